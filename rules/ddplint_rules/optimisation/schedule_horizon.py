"""A learning rate schedule is planned for the steps of one process over the whole dataset

## What it finds

A schedule that moves on in every training step, whose number of steps is computed from the length of the whole dataset
(`len(dataset) // batch_size`), while the loader has a `DistributedSampler`: each process runs over its share alone, so
that it takes that many steps divided by the number of processes.

It is silent where the number of processes has any part in the plan or in the batch size, where the loader can have
another sampler, and where the schedule moves on once in an epoch.

## Why it matters

On eight processes the run ends after an eighth of the schedule. A cosine or a linear decay never comes down, warmup
takes eight times as long, and the final accuracy is that of a run that was stopped early. Nothing warns, and on one
process all is well.

## Symptoms

- the learning rate never comes down on several GPUs
- warmup takes too long on several GPUs

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, args):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    steps = len(dataset) // args.batch_size  #~ DDP307
    schedule = CosineAnnealingLR(optimizer, T_max=args.epochs * steps)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            schedule.step()
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, args):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    steps = len(loader)
    schedule = CosineAnnealingLR(optimizer, T_max=args.epochs * steps)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            schedule.step()
```

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, args):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    steps = len(dataset) // (args.batch_size * dist.get_world_size())
    schedule = CosineAnnealingLR(optimizer, T_max=args.epochs * steps)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            schedule.step()
```

## Fix

Unsafe: the quotient becomes `len(loader)`, which counts the steps of one process, where the loader has a name by then.
On several processes the learning rate takes another course, which the peak rate may have been tuned for.

## At run time

Confirmed when the schedule moved on fewer times in an epoch than was planned for one. Refuted when the numbers agree.
Not exercised in a run of one process, or without a whole epoch.

## References

- https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
- https://github.com/huggingface/diffusers/pull/8312
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Editor,
    Fix,
    Found,
    Horizon,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP307",
    name="schedule-horizon",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("step",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the schedules that are planned from the whole dataset."""
    if project.role(script) is Role.TEST:
        return
    for horizon in project.horizons.of(script):
        here = horizon.per_epoch.scope.script is script
        length = written(horizon.length)
        yield Found(
            horizon.per_epoch if here else horizon.step,
            f"the schedule is planned from `{length}`, the whole dataset, and moves on once in each step over this "
            "rank's share: on N processes it ends after 1/N of its course; count with the length of the loader",
            related=((horizon.schedule, "the schedule"), (horizon.loader, "the loader of this rank's share")),
            subject=horizon if here else None,
        )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Count the batches of the loader."""
    horizon = found.subject
    if not isinstance(horizon, Horizon) or horizon.known_as is None:
        return None
    text = f"len({horizon.known_as})"
    changes = edits.replace(horizon.per_epoch.node, text)
    return Fix(Applicability.UNSAFE, f"Plan with {text}; the rate takes another course on several processes", changes)
