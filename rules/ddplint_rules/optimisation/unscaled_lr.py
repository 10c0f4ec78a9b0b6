r"""A learning rate that stays the same when more processes make the batch larger

## What it finds
An optimizer whose learning rate does not depend on the number of processes, in a program that wraps its model in
DistributedDataParallel and gives every process a batch of constant size: on N processes the optimizer steps on N times
as many samples with the learning rate of one.

It speaks only where all three are in view: the learning rate and the batch size are constants or options with a
constant default, the training loader shares its data out over the ranks, and the script knows the number of processes.
It is silent as soon as anything in the program combines a learning rate, a batch or an accumulation count with the
number of processes (`lr * world_size`, `blr * total / 256`, `batch_size // ngpus`), and where a name or a help text
says that the number is meant per GPU or over all of them. For Adam and its family the finding is only possible.

## Why it matters
The loss still goes down, a little too slowly, and the final accuracy is lower than the one GPU run's. Nothing warns.
SGD wants the rate scaled with the batch (linearly, with a warmup); Adam-like optimizers take the square root or the
old rate, which is why the finding is only possible there.

## Symptoms

- accuracy is lower on more GPUs
- training converges slower per epoch with more GPUs
- loss comes down slower with a larger global batch

## Example
```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, device):
    dist.init_process_group("nccl")
    world_size = dist.get_world_size()
    sampler = DistributedSampler(dataset, num_replicas=world_size)
    loader = DataLoader(dataset, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(model.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)  #~ DDP301
    for epoch in range(90):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device)).backward()
            optimizer.step()
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, device):
    dist.init_process_group("nccl")
    world_size = dist.get_world_size()
    sampler = DistributedSampler(dataset, num_replicas=world_size)
    loader = DataLoader(dataset, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(model.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * world_size, momentum=0.9)
    for epoch in range(90):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device)).backward()
            optimizer.step()
```

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, device):
    dist.init_process_group("nccl")
    world_size = dist.get_world_size()
    sampler = DistributedSampler(dataset, num_replicas=world_size)
    loader = DataLoader(dataset, batch_size=64 // world_size, sampler=sampler)  # the batch of one GPU, shared out
    model = DistributedDataParallel(model.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(90):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device)).backward()
            optimizer.step()
```

## Fix
Unsafe: it changes what the run computes. For SGD the rate is multiplied by the number of processes, where a name in
the same function holds it. The other cure, dividing the batch by the number of processes, keeps the numbers of one GPU
and may be the better one.

## At run time
Confirmed when each of N processes adds a whole batch to every step, at the rate that the optimizer was made with;
refuted when the rate of the steps is N times that one; not exercised without a step.

## References
- Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", 2017
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Call,
    Confidence,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Loader,
    Operation,
    Project,
    Purpose,
    Rule,
    SamplerKind,
    Script,
    Trace,
    Verdict,
)

RULE = Rule(
    code="DDP301",
    name="unscaled-lr",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)
_LINEAR = "torch.optim.SGD"
_ADAPTIVE = tuple(
    f"torch.optim.{name}" for name in ("Adam", "AdamW", "Adagrad", "Adamax", "RMSprop", "NAdam", "RAdam", "Adadelta")
)
_WRAPPER = "torch.nn.parallel.DistributedDataParallel"


@dataclass(frozen=True)
class _Rate:
    """The learning rate of an optimizer, and the name that holds the number of processes there."""

    value: Expression
    world_size: str | None


def check(script: Script, project: Project) -> Iterator[Found]:
    optimizers = project.calls(script, _LINEAR, *_ADAPTIVE)
    if not optimizers or not project.calls(script, _WRAPPER):
        return
    loaders = [loader for loader in project.loaders(script) if _grows(loader, project)]
    if not loaders or project.scaling.is_scaled_somewhere(script):
        return
    for optimizer in optimizers:
        yield from _unscaled(optimizer, loaders[0], project)


def _unscaled(optimizer: Call, loader: Loader, project: Project) -> Iterator[Found]:
    rate = project.argument(optimizer, "lr")
    if not isinstance(rate, Expression) or project.scaling.follows_world(rate):
        return
    if not project.scaling.constant(rate) or project.scaling.says_what_it_counts(rate):
        return
    certain = project.certainly(optimizer.callee, _LINEAR) and _knows_world(optimizer.scope.script, project)
    advice = (
        "multiply the rate by the world size (with a warmup)"
        if certain
        else ("SGD wants the rate times the world size, Adam-like optimizers its square root or the old rate")
    )
    yield Found(
        rate,
        "the learning rate is the same on any number of processes, while each of them adds a batch of constant size to "
        f"every step: the effective batch grows and the rate does not; {advice}, or divide the batch by the world size",
        Confidence.LIKELY if certain else Confidence.POSSIBLE,
        related=((loader.call, "every process takes a batch of this size"),),
        subject=_Rate(rate, project.scaling.world_size(rate)) if certain else None,
    )


def _grows(loader: Loader, project: Project) -> bool:
    """Whether every process takes a batch of constant size from its share of the training data."""
    size = loader.argument("batch_size")
    if not isinstance(size, Expression) or loader.purpose is not Purpose.TRAINING:
        return False
    if any(sampler.kind is not SamplerKind.DISTRIBUTED for sampler in loader.samplers):
        return False
    scaling = project.scaling
    return bool(scaling.constant(size)) and not scaling.follows_world(size) and not scaling.says_what_it_counts(size)


def _knows_world(script: Script, project: Project) -> bool:
    return bool(project.calls(script, "torch.distributed.get_world_size")) or "WORLD_SIZE" in script.source.text


def fix(found: Found, edits: Editor) -> Fix | None:
    rate = found.subject
    if not isinstance(rate, _Rate) or rate.world_size is None:
        return None
    text = edits.source_text(rate.value.node)
    if isinstance(rate.value, Operation) and not text.startswith("("):
        text = f"({text})"
    change = edits.replace(rate.value.node, f"{text} * {rate.world_size}")
    return Fix(Applicability.UNSAFE, f"Multiply the learning rate by {rate.world_size}", change)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the samples and the rate of a step with those of one process."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    made = {(one.rank, one["optimizer"]): one for one in trace.below(finding.lines, Kind.OPTIMIZER)}
    steps = [step for step in trace.of(Kind.STEP) if (step.rank, step["optimizer"]) in made]
    sizes = {
        loader.rank: loader["batch_size"]
        for place in finding.related
        for loader in trace.below(place, Kind.LOADER)
        if loader["replicas"]
    }
    if not steps or not sizes:
        return Verdict.not_exercised("this optimizer made no step on the loader's batches")
    first = made[steps[0].rank, steps[0]["optimizer"]]
    rates = sorted({rate for step in steps for rate in step["rates"]})
    together = sum(sizes.values())
    evidence = [f"rank {rank}: batches of {size}" for rank, size in sorted(sizes.items())]
    evidence.append(f"learning rates of the steps: {', '.join(f'{rate:g}' for rate in rates)}")
    if max(rates) >= max(first["rates"]) * trace.world_size:
        return Verdict.refuted("the learning rate was raised with the number of processes", *evidence)
    summary = (
        f"each step takes {together} samples on {trace.world_size} processes, at the rate for {min(sizes.values())}"
    )
    return Verdict.confirmed(summary, *evidence)
