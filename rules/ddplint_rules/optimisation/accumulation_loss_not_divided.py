"""Gradients of several backward passes are added up, and the loss is not divided by their number

## What it finds

A loop that runs a backward pass in every round and steps the optimizer only when a remainder says so
(`if (step + 1) % accumulation == 0:`), where the loss is not divided by that number.

It is silent where the number has any part in the loss, where the loss is divided by something that is not a plain
number (tokens, a count under another name), where it is a sum, and where the file divides gradients, a learning rate or
anything else by the number. For Adam and its family, which do not feel the size of a gradient, it is merely possible.

## Why it matters

Each backward pass adds its gradient to the last. A loss is a mean over its batch, so the sum of four backward passes is
four times the gradient of the large batch that was meant: the optimizer steps four times as far, clipping cuts in four
times as early, and the learning rate has to be found anew for every number of rounds.

## Symptoms

- loss becomes nan with gradient accumulation
- training diverges with gradient accumulation

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion, accumulation):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets)
        loss.backward()  #~ DDP303
        if (step + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion, accumulation):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets)
        (loss / accumulation).backward()
        if (step + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
```

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion, accumulation):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets)
        loss = loss / accumulation
        loss.backward()
        if (step + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
```

## Fix

Unsafe: the loss is divided by the number where its backward pass starts. That changes the size of every step, which may
have been made up for by a smaller learning rate.

## At run time

Confirmed when the norm of the gradient at the step grows with the number of rounds. Refuted when it stays about the
same. Not exercised when the number was 1.

## References

- Gradient accumulation: https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Accumulation,
    Applicability,
    Attribute,
    Call,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Name,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP303",
    name="accumulation-loss-not-divided",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("backward",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)
# Optimizers whose step does not depend on the size of the gradient.
_ADAPTIVE = frozenset(
    f"torch.optim.{name}" for name in ("Adam", "AdamW", "Adagrad", "Adamax", "RMSprop", "NAdam", "RAdam", "Adadelta")
)


@dataclass(frozen=True, slots=True)
class _Divided:
    """A loss, and the text of what it is to be divided by."""

    loss: Expression | None
    count: str


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the backward passes of accumulations whose loss is not divided."""
    if project.role(script) is Role.TEST:
        return
    told: set[int] = set()
    for found in project.accumulations.of(script):
        if id(found.backward.place) in told or project.accumulations.may_be_normalised(found):
            continue
        told.add(id(found.backward.place))
        count = written(found.count)
        yield Found(
            found.backward.place,
            f"the gradients of {count} backward passes are added up for one step, each in full: the step is {count} "
            f"times that of one large batch; divide the loss by {count}",
            Confidence.POSSIBLE if _is_adaptive(found, project) else Confidence.LIKELY,
            related=((found.step.call, "the step, once in so many rounds"),),
            subject=_Divided(project.accumulations.loss(found), count),
        )


def _is_adaptive(found: Accumulation, project: Project) -> bool:
    makers = project.origins(project.optimizer_steps.optimizer(found.step.call))
    return bool(makers) and all(
        isinstance(maker, Call) and project.certainly(maker.callee, *_ADAPTIVE) for maker in makers
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Divide the loss where its backward pass starts."""
    assert isinstance(found.subject, _Divided)
    loss, count = found.subject.loss, found.subject.count
    if not isinstance(loss, Name) or not isinstance(found.at, Call):
        return None
    divided = f"{edits.source_text(loss.node)} / {count}"
    is_receiver = isinstance(found.at.callee, Attribute) and found.at.callee.base is loss
    changes = edits.replace(loss.node, f"({divided})" if is_receiver else divided)
    return Fix(Applicability.UNSAFE, f"Divide the loss by {count}; the learning rate may have made up for it", changes)
