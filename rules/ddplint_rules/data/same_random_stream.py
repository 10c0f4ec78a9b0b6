"""Random numbers that should differ between the ranks are the same on all of them

## What it finds

`torch.manual_seed`, itself or in a function of the project such as `set_seed`, with a constant or an option on every
rank, in a program that trains a model in DistributedDataParallel and draws noise as large as the batch in each step,
in the loop or in the model's `forward`: `torch.randn_like(x)`, `torch.rand(x.shape[0], 1)`. Also a `worker_init_fn`
of a training loader that seeds by the number of the worker, where the rank has no part in the seed.

It is silent where anything else in the program seeds, sets or forks a generator of torch, where a `generator` is given,
for draws of a constant size, such as decisions, for a seed in which the rank has a part, and in tests. Samplers,
splits and the model itself are to be the same on all ranks, and one seed before all of these is right for them.

## Why it matters

Every rank gets other samples, but the same noise, time steps or masks for them. A batch over eight ranks has no more
variety in its noise than that of one, the gradients go together, and a run on more GPUs learns less than it could.
With workers that are seeded alike, all ranks augment their samples in the same way. Nothing warns.

## Symptoms

- all ranks draw the same noise, time steps or augmentations
- a diffusion model learns less on more GPUs

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)  #~ DDP210
    model = DistributedDataParallel(model.to(rank))
    for images in loader:
        noise = torch.randn_like(images)
        loss = (model(images + noise) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(args.seed + rank)
    model = DistributedDataParallel(model.to(rank))
    for images in loader:
        noise = torch.randn_like(images)
        loss = (model(images + noise) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)  # what is made before the loop is the same everywhere
    model = DistributedDataParallel(model.to(rank))
    torch.manual_seed(args.seed + rank)
    for images in loader:
        noise = torch.randn_like(images)
        loss = (model(images + noise) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix

Unsafe: the rank is added to the seed where a name holds it by then. Every rank but the first gets other random numbers,
also for what may have to be the same on all of them, such as a split that is drawn afterwards. None for workers: they
may not know the process group.

## At run time

Confirmed when the first draws of two ranks are equal in a step. Refuted when they differ. Not exercised when nothing
was drawn, or in a run of one process.

## References

- https://docs.pytorch.org/docs/stable/notes/randomness.html
- https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Editor,
    Fix,
    Found,
    Impact,
    Operation,
    Project,
    Role,
    Rule,
    Script,
    SharedStream,
    written,
)

RULE = Rule(
    code="DDP210",
    name="same-random-stream",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("seed", "worker_init_fn"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the seeds that make the ranks draw the same."""
    if project.role(script) is Role.TEST:
        return
    for stream in project.random_streams.shared(script):
        yield Found(
            stream.call,
            f"every rank is seeded with `{written(stream.seed)}`, so that `{written(stream.noise.callee)}` draws the "
            "same numbers on all of them in each step; add the rank to the seed, after what has to be equal is made",
            related=((stream.noise, "the noise"),),
            subject=stream,
        )
    for worker in project.random_streams.of_workers(script):
        if worker.call.scope.script is script:
            yield Found(
                worker.call,
                f"the workers of every rank are seeded with `{written(worker.seed)}`, so that all ranks augment their "
                "samples alike; add the rank times the number of workers",
                related=((worker.loader, "the training loader"),),
            )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Add the rank to the seed."""
    stream = found.subject
    if not isinstance(stream, SharedStream) or stream.rank is None:
        return None
    text = edits.source_text(stream.seed.node)
    if isinstance(stream.seed, Operation) and not text.startswith("("):
        text = f"({text})"
    changes = edits.replace(stream.seed.node, f"{text} + {stream.rank}")
    return Fix(Applicability.UNSAFE, f"Add {stream.rank} to the seed; other ranks draw other numbers", changes)
