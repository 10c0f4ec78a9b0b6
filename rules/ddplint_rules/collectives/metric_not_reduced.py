"""A metric of one rank's share of the evaluation data, taken for that of all of it

## What it finds

A number that is measured in a loop over a loader with a DistributedSampler, and has gone through no collective, where

- it is compared with the best one so far, to keep a checkpoint or to stop;
- a `ReduceLROnPlateau` decides on the learning rate by it;
- one rank prints or records it, at the end or once an epoch.

It is silent where the number, or what it is made from, goes through a collective on the way, in a method as well; for
metrics of torchmetrics and the like, which exchange themselves; for evaluation over all of the data on each rank; and
for the losses of training steps. A `break` on such a number is DDP502.

## Why it matters

Each rank has seen one part of the data, and the number is that of this part: with 8 GPUs an eighth. It is noisier
than what was asked for, changes with the number of GPUs, and picks other checkpoints. A scheduler that each rank
drives by its own number gives the ranks different learning rates, and their models drift apart.

## Example

```python bad
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl")


def validate(model, data):
    correct = 0
    for images, labels in DataLoader(data, sampler=DistributedSampler(data, shuffle=False)):
        correct += (model(images).argmax(1) == labels).sum().item()
    return correct / len(data)


def run(model, data, epochs):
    best = 0.0
    for epoch in range(epochs):
        accuracy = validate(model, data)
        if accuracy > best:  #~ DDP512
            best = accuracy
```

```python good
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl")


def validate(model, data):
    correct = torch.zeros(1, device="cuda")
    for images, labels in DataLoader(data, sampler=DistributedSampler(data, shuffle=False)):
        correct += (model(images).argmax(1) == labels).sum()
    dist.all_reduce(correct)
    return correct.item() / len(data)


def run(model, data, epochs):
    best = 0.0
    for epoch in range(epochs):
        accuracy = validate(model, data)
        if accuracy > best:
            best = accuracy
```

## Fix

None: the sums and the counts have to be added up over the ranks (`all_reduce`), and only the author knows which
numbers these are.

## At run time

Confirmed when the value differs between the ranks at that line, or one rank alone comes there with the value of its
own share. Refuted when it is equal on all of them. Not exercised when the line was not reached.

## References

- `all_reduce`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce
- DistributedSampler: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Found,
    Impact,
    LocalMetric,
    MetricUse,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP512",
    name="metric-not-reduced",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=(
        "best",
        "min",
        "max",
        "top",
        "lowest",
        "highest",
        "ReduceLROnPlateau",
        "print",
        "log",
        "add_scalar",
        "write",
    ),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
)
USES = {
    MetricUse.COMPARED: "the best model is chosen by the part of the data that this rank has",
    MetricUse.SCHEDULES: "each rank sets its learning rate by its own part of the data, and the ranks drift apart",
    MetricUse.SAID: "what is shown is the value of the part of the data that this rank has",
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the metrics that are those of one rank, the first of each function."""
    if project.role(script) is Role.TEST:
        return
    told: set[int] = set()
    for metric in project.local_metrics.of(script):
        function = id(metric.at.scope.function)
        if function not in told:
            told.add(function)
            yield _found(metric)


def _found(metric: LocalMetric) -> Found:
    message = (
        f"`{written(metric.at)}` is measured on one rank's share and never reduced: {USES[metric.use]}; all_reduce the "
        "sum and the count of the ranks first"
    )
    return Found(metric.at, message)
