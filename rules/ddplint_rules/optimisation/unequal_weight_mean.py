"""A loss is a mean over items that each rank counts for itself, and the means are averaged over the ranks

## What it finds

A loss of a model in DistributedDataParallel that is a sum divided by a count of its own: `(loss * mask).sum() /
mask.sum()`. The count is the sum of a whole tensor, such as a mask, in which the model has no part.

It is silent where a collective takes the count, where the number of processes has any part in the loss, for sums along
a dimension, and where the model has a part in the divisor (a Dice or IoU loss).

## Why it matters

DistributedDataParallel averages the gradients of the ranks, each with the same weight. A rank with 6 tokens weighs as
much as one with 24, so each of its tokens counts four times as much. The gradient is not that of the batch over all
ranks, and changes with the way the samples fall on the ranks. Nothing warns; the loss goes down all the same.

## Symptoms

- loss differs from that of one GPU with masks or padding
- gradients change with how the samples fall on the ranks

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    criterion = torch.nn.CrossEntropyLoss(reduction="none")
    for tokens, labels, mask in loader:
        losses = criterion(model(tokens), labels)
        loss = (losses * mask).sum() / mask.sum()  #~ DDP310
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

The count over all ranks, with the number of processes against the mean that DistributedDataParallel takes:

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    criterion = torch.nn.CrossEntropyLoss(reduction="none")
    for tokens, labels, mask in loader:
        losses = criterion(model(tokens), labels)
        count = mask.sum()
        dist.all_reduce(count)
        loss = (losses * mask).sum() * dist.get_world_size() / count
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix

None: it takes a collective that every rank has to come to in each step, and changes the size of the gradients; only the
author knows whether all do, and which weights are meant.

## At run time

Confirmed when the divisors of the ranks differ in one step. Refuted when they are equal in all steps. Not exercised in
a run of one process.

## References

- What DDP does with gradients: https://docs.pytorch.org/docs/stable/notes/ddp.html
- https://github.com/huggingface/transformers/issues/34242
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import LOOP_DRIVERS, Found, Impact, Project, Role, Rule, Script, written

RULE = Rule(
    code="DDP310",
    name="unequal-weight-mean",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("backward",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the losses that each rank divides by its own count."""
    if project.role(script) is Role.TEST:
        return
    for mean in project.loss_means.of(script):
        here = mean.division.scope.script is script
        count = written(mean.count)
        yield Found(
            mean.division if here else mean.backward,
            f"the loss is a mean over this rank's `{count}`, and the ranks' gradients are averaged with equal weights: "
            "items of ranks that have few weigh more; divide by the count over all ranks, times the world size",
            related=((mean.backward, "the backward pass"),) if here else ((mean.division, "the division"),),
        )
