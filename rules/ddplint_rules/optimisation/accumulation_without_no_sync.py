"""Gradients that are only gathered are exchanged between the ranks in every round

## What it finds

A loop that runs a backward pass of a model in DistributedDataParallel in every round and steps the optimizer only when
a remainder says so (`if (step + 1) % accumulation == 0:`), in a program that never uses `no_sync` or sets
`require_backward_grad_sync`.

It is silent where the model may be bare, and where the number of rounds is 1. Where it is computed, or an option with
the default 1 or 0, it is merely possible.

## Why it matters

DDP averages the gradients over all ranks in every backward pass. Until the last round they only wait to be added to,
so all exchanges but one are in vain. The result is right, the time is lost: with eight rounds, seven of eight
exchanges, which weighs most between machines.

## Symptoms

- gradient accumulation does not make training faster
- communication takes much of the step

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets) / 8
        loss.backward()  #~ DDP302
        if (step + 1) % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()
```

```python good
from contextlib import nullcontext

import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        is_due = (step + 1) % 8 == 0
        with nullcontext() if is_due else model.no_sync():
            loss = criterion(model(inputs), targets) / 8
            loss.backward()
        if (step + 1) % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()
```

## Fix

None: the forward and the backward pass have to move into `with model.no_sync():` for all rounds but the one before a
step, and which round that is can depend on more than the remainder (the last batch of an epoch).

## At run time

Confirmed when the gradients are exchanged more often than the optimizer steps. Refuted when both happen equally often.
Not exercised when the number of rounds was 1.

## References

- `no_sync`: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Call,
    Confidence,
    Expression,
    Found,
    Impact,
    Operation,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP302",
    name="accumulation-without-no-sync",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("backward",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod"},
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the backward passes whose exchange is in vain in most rounds."""
    if project.role(script) is Role.TEST:
        return
    told: set[int] = set()
    for found in project.accumulations.of(script):
        forward = next(project.accumulations.forwards(found), None)
        if forward is None or id(found.backward.place) in told or project.accumulations.holds_back(script):
            continue
        told.add(id(found.backward.place))
        count = written(found.count)
        yield Found(
            found.backward.place,
            f"the gradients are exchanged between the ranks in every round, while the optimizer steps once in {count} "
            f"rounds: all other exchanges are in vain; run those rounds in `with {written(forward.callee)}.no_sync():`",
            Confidence.POSSIBLE if _may_be_one(found.count, project) else Confidence.LIKELY,
            related=((found.step.call, f"the step, once in {count} rounds"), (forward, "the forward pass")),
        )


def _may_be_one(count: Expression, project: Project) -> bool:
    """Whether a number of rounds may well be 1: an option says so, or it is computed."""
    computed = any(isinstance(origin, Call | Operation) for origin in project.origins(count))
    return computed or project.scaling.constant(count) in (0, 1)
