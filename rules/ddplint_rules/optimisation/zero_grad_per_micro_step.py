"""Gradients are cleared in every round of a loop that gathers them over several rounds

## What it finds

A loop that runs a backward pass in every round and steps the optimizer only when a remainder says so
(`if (step + 1) % accumulation == 0:`), while `zero_grad` of that optimizer, or of the model, runs in every round.

It is silent where `zero_grad` stands under the same test, where it belongs to another optimizer, and where the test has
a backward pass of its own.

## Why it matters

Only the last of the rounds is left when the optimizer steps; the work of all the others is thrown away. The batch is as
small as without accumulation, the run takes as many times longer for a step, and, where the loss is divided by the
number of rounds, the steps are that much too short as well. Nothing fails.

## Symptoms

- gradient accumulation has no effect

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion, accumulation):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()  #~ DDP313
        loss = criterion(model(inputs), targets) / accumulation
        loss.backward()
        if (step + 1) % accumulation == 0:
            optimizer.step()
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, criterion, accumulation):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets) / accumulation
        loss.backward()
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
        if step % accumulation == 0:
            optimizer.zero_grad()
        loss = criterion(model(inputs), targets) / accumulation
        loss.backward()
        if (step + 1) % accumulation == 0:
            optimizer.step()
```

## Fix

Unsafe: `zero_grad` moves to the step, behind it. The gradients of all rounds count from then on, which is the point of
it, and changes what the run computes.

## At run time

Confirmed when the gradient at the step is that of the last round alone. Refuted when it is the sum over the rounds. Not
exercised when the number of rounds was 1.

## References

- Gradient accumulation: https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Act,
    Applicability,
    Call,
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
    written,
)

RULE = Rule(
    code="DDP313",
    name="zero-grad-per-micro-step",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("zero_grad",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)


@dataclass(frozen=True, slots=True)
class _Moved:
    """A call that clears gradients, and the step that it belongs behind; ``cleared``: it is cleared there already."""

    clear: Call
    step: Call
    cleared: bool


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the calls that clear gathered gradients in every round."""
    if project.role(script) is Role.TEST:
        return
    told: set[int] = set()
    for found in project.accumulations.of(script):
        due = [call for call in script.calls if call.region.within(found.region)]
        for clear in project.accumulations.clears(found):
            if id(clear.place) in told:
                continue
            told.add(id(clear.place))
            count = written(found.count)
            yield Found(
                clear.place,
                f"the gradients are cleared in every round, while the optimizer steps once in {count} rounds: only the "
                f"last of {count} backward passes counts; clear them where the optimizer steps",
                related=((found.step.call, f"the step, once in {count} rounds"),),
                subject=_moved(clear, found.step, due),
            )


def _moved(clear: Act, step: Act, due: list[Call]) -> _Moved | None:
    if len(clear.path) > 1 or len(step.path) > 1:
        return None
    if not (is_whole_statement(clear.call) and is_whole_statement(step.call)):
        return None
    return _Moved(clear.call, step.call, any(written(call.callee) == written(clear.call.callee) for call in due))


def fix(found: Found, edits: Editor) -> Fix | None:
    """Clear behind the step."""
    moved = found.subject
    if not isinstance(moved, _Moved):
        return None
    text = edits.source_text(moved.clear.node)
    changes = edits.remove_statement(moved.clear.statement.node)
    if not moved.cleared:
        changes = (*changes, *edits.insert_statements_after(moved.step.statement.node, [text]))
    return Fix(
        Applicability.UNSAFE, "Clear the gradients only after a step; the gradients of all rounds count", changes
    )


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for gradients that were cleared at the line between a backward pass and the next step."""
    for process in trace.processes:
        backward = False
        for event in process.of(Kind.BACKWARD_DONE, Kind.STEP, Kind.ZERO_GRAD):
            if event.kind is Kind.ZERO_GRAD:
                if backward and event.is_at(finding.lines):
                    return Verdict.confirmed("gradients were cleared before any step had used them", f"at {event.at}")
            else:
                backward = event.kind is Kind.BACKWARD_DONE
    return Verdict.refuted("each backward pass was used by a step before the gradients were cleared")
