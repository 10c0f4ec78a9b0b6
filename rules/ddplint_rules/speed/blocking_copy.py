"""Batches that are copied to the GPU from ordinary memory, or while Python waits

## What it finds

With `--pedantic`: `.cuda()` and `.to(device)` of what a training DataLoader hands out, where the loader does not pin
its memory (`pin_memory` is left out or False), or pins it and the copy is not `non_blocking`.

It is silent where an option decides, for copies to the CPU and casts, for loaders of another purpose, for a
`collate_fn` of the project's own, whose batches may not be pinned, and in tests.

## Why it matters

Memory that is not pinned has to be copied twice, and Python waits for it. Seen on an H200 with torch 2.11, 154 MB of
images: 17.1 ms from ordinary memory, with and without `non_blocking=True`; 2.8 ms from pinned memory; and with both,
Python goes on after 0.04 ms, while the copy runs beside the work of the GPU.

## Example

```python bad
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def train(model, dataset, sampler, optimizer, device):
    model = DistributedDataParallel(model.to(device))
    loader = DataLoader(dataset, batch_size=64, sampler=sampler)
    for inputs in loader:
        loss = model(inputs.to(device)).square().mean()  #~ DDP704
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python fixed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def train(model, dataset, sampler, optimizer, device):
    model = DistributedDataParallel(model.to(device))
    loader = DataLoader(dataset, batch_size=64, sampler=sampler, pin_memory=True)
    for inputs in loader:
        loss = model(inputs.to(device, non_blocking=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python good
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def train(model, dataset, sampler, optimizer, device):
    model = DistributedDataParallel(model.to(device))
    loader = DataLoader(dataset, batch_size=64, sampler=sampler, pin_memory=True)
    for inputs in loader:
        inputs = inputs.to(device, non_blocking=True)
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix

Unsafe: `non_blocking=True`, and `pin_memory=True` where the loader is made in the same file. Pinned memory cannot be
swapped out, a dataset that hands out tensors of the GPU cannot be pinned, and a run without a GPU warns.

## At run time

Confirmed when a batch is not pinned as it is copied, with the time of the copies. Refuted when it is, and Python does
not wait. Not exercised on the CPU.

## References

- "Use pinned memory buffers": https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers
- `pin_memory`: https://docs.pytorch.org/docs/stable/data.html#memory-pinning
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Binding,
    Call,
    Comprehension,
    Confidence,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Loader,
    Loop,
    Missing,
    Project,
    Purpose,
    Role,
    Rule,
    Script,
    Subscript,
    shown,
)

RULE = Rule(
    code="DDP704",
    name="blocking-copy",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("DataLoader",),
    everyday=True,
    applicability=Applicability.UNSAFE,
    pedantic=True,
)
COPIES = frozenset({"cuda", "to"})


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a part of a batch, and what it lacks."""

    call: Call
    loader: Call
    pins: bool
    waits: bool


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the copies of the batches of each training loader."""
    if project.role(script) is Role.TEST:
        return
    for loader in project.loaders(script):
        pins = _pins(loader)
        if pins is None or not loader.is_torchs or loader.purpose is not Purpose.TRAINING:
            continue
        for call in _copies(loader, script, project):
            waits = project.argument(call, "non_blocking") is Missing.ABSENT
            if waits or not pins:
                copy = Copy(call, loader.call, pins, waits)
                related = ((loader.call, "the batches come from here"),)
                yield Found(call, _message(copy), Confidence.POSSIBLE, related=related, subject=copy)


def _pins(loader: Loader) -> bool | None:
    """Whether a loader pins its batches; None where that is not known."""
    if loader.argument("collate_fn") is not Missing.ABSENT:
        return None
    given = loader.argument("pin_memory")
    if given is Missing.ABSENT:
        return False
    return given.value if isinstance(given, Constant) and isinstance(given.value, bool) else None


def _copies(loader: Loader, script: Script, project: Project) -> Iterator[Call]:
    """Yield the calls that copy what the loops over a loader hand out, in the file of the loader."""
    uses = project.uses(script)
    for loop in loader.trail.consumers:
        if not isinstance(loop, Loop) or loop.iterable is None or loop.statement.region.scope.script is not script:
            continue
        for read in (read for binding in _targets(loop, project) for read in uses.reads(binding)):
            part: Expression | None = uses.parent(read)
            while isinstance(part, Subscript):
                part = uses.parent(part)
            call = uses.parent(part) if isinstance(part, Attribute) and part.name in COPIES else None
            if isinstance(call, Call) and call.callee is part and _moves(call, project):
                yield call


def _targets(loop: Loop, project: Project) -> list[Binding]:
    assert loop.iterable is not None
    return project.uses(loop.statement.region.scope.script).bindings(loop.iterable)


def _moves(call: Call, project: Project) -> bool:
    """Whether a call can copy to a GPU, and is no cast."""
    given = [argument.value for argument in call.arguments if argument.keyword != "non_blocking"]
    casts = any(name.startswith("torch.") for value in given for name in project.names(value))
    named = isinstance(call.callee, Attribute) and (call.callee.name == "cuda" or bool(given))
    return named and not casts and len(given) < 2 and project.placement.may_reach_gpu(call) and not _is_in_list(call)


def _is_in_list(call: Call) -> bool:
    return isinstance(call.callee, Attribute) and isinstance(call.callee.base, Comprehension)


def _message(copy: Copy) -> str:
    what = shown(copy.call)
    if copy.pins:
        return f"`{what}` makes Python wait for the copy of pinned memory; add `non_blocking=True`"
    return (
        f"`{what}` copies from memory that is not pinned: it takes several times as long, and Python waits; give the "
        "loader `pin_memory=True` and the copy `non_blocking=True`"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Pin the batches, and do not wait."""
    assert isinstance(found.subject, Copy)
    copy = found.subject
    changes = edits.insert_argument(copy.call.node, "non_blocking=True") if copy.waits else ()
    if not copy.pins:
        given = next((argument for argument in copy.loader.arguments if argument.keyword == "pin_memory"), None)
        if given is not None:
            changes += edits.replace(given.value.node, "True")
        else:
            changes += edits.insert_argument(copy.loader.node, "pin_memory=True")
    return Fix(Applicability.UNSAFE, "Copy from pinned memory, without waiting", changes)
