"""A learning rate schedule moves on before the optimizer steps

## What it finds

`scheduler.step()` in a loop whose optimizer steps later in the same round: in the same body, in an inner loop, or in a
function that is called after it.

It is silent for `ReduceLROnPlateau`, for the older `scheduler.step(epoch)`, which names the epoch, where the optimizer
steps before as well, and where the schedule belongs to another optimizer.

## Why it matters

Since torch 1.1 a schedule starts with its first rate when it is made, and each step moves it on. Moved on before the
first step of the optimizer, it skips that rate: the warmup begins too high, every drop comes one round early, and an
epoch is lost at every resume that repeats the order. torch warns of it once.

## Symptoms

- UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`
- the first value of the learning rate schedule is skipped

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=1000)
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        scheduler.step()  #~ DDP309
        optimizer.step()
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=1000)
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()
        scheduler.step()
```

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for epoch in range(90):
        for inputs, targets in loader:
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            optimizer.step()
        scheduler.step()
```

## Fix

Unsafe, where both steps stand in one block: the schedule moves behind the step of the optimizer. Every round then runs
at the rate that the schedule was written for, which is another one than before.

## At run time

Confirmed when the schedule moves on before the first step of its optimizer. Refuted when the optimizer steps first. Not
exercised when neither happened.

## References

- https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    EarlyStep,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    is_whole_statement,
    shown,
)

RULE = Rule(
    code="DDP309",
    name="scheduler-order",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("lr_scheduler",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the schedules that move on too early."""
    if project.role(script) is Role.TEST:
        return
    for early in project.optimizer_steps.early(script):
        yield Found(
            early.schedule,
            f"`{shown(early.schedule)}` moves the learning rate on before the optimizer steps: the first rate is "
            "skipped and every later one comes a round early; call it after the optimizer's step",
            related=((early.step, "the optimizer steps here"),),
            subject=early if _can_move(early) else None,
        )


def _can_move(early: EarlyStep) -> bool:
    """Whether both are lines of one block, with nothing between them that may leave it."""
    exits = early.schedule.scope.script.exits
    left = any(early.schedule.order < leave.order < early.step.order for leave in exits)
    return early.beside and not left and is_whole_statement(early.schedule) and is_whole_statement(early.step)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Move the schedule behind the step."""
    early = found.subject
    if not isinstance(early, EarlyStep):
        return None
    text = edits.source_text(early.schedule.node)
    removed = edits.remove_statement(early.schedule.statement.node)
    changes = (*removed, *edits.insert_statements_after(early.step.statement.node, [text]))
    return Fix(Applicability.UNSAFE, "Step the schedule after the optimizer; every round gets another rate", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the first move of the schedule with the first step of an optimizer."""
    for process in trace.processes:
        moves = [one for one in process.of(Kind.SCHEDULER_STEP) if not one["initial"] and one.is_below(finding.lines)]
        steps = list(process.of(Kind.STEP))
        if moves and (not steps or moves[0].number < steps[0].number):
            return Verdict.confirmed(
                "the schedule moved on before the first step", f"{moves[0]['cls']} at {moves[0].at}"
            )
        if moves and steps:
            return Verdict.refuted("the optimizer stepped first")
    return Verdict.not_exercised("the schedule did not move on here")
