"""A model that is wrapped before it is moved to its GPU, or cast to another type afterwards

## What it finds

- DistributedDataParallel around a model that certainly is on the CPU, with `device_ids` or in a group of NCCL;
- `.cuda()` and `.to(device)` on the wrapper of such a model;
- `.half()`, `.bfloat16()`, `.double()` or `.to(torch.float16)` on a wrapper, before it is trained.

A model certainly is on the CPU when it is made in the same function and nothing was done with it that can have moved
it. It is silent for a model that was moved before, even if it is moved once more, for runs on the CPU, and in tests.

## Why it matters

With `device_ids`, or where NCCL is the only backend, wrapping fails. Where the wrapper can be made, it is worse: it
watches the parameters as they were. Once they are moved, nothing is exchanged any more, nothing says so, and each rank
trains a model of its own.

## Symptoms

- ValueError: DistributedDataParallel's input module must be on the same type of devices, but input module parameters
  locate in
- the ranks drift apart after the model was moved or converted to half

## Example

```python bad
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Linear(8, 2)
    model = DistributedDataParallel(model, device_ids=[local_rank]).cuda()  #~ DDP102
    return model
```

```python fixed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Linear(8, 2)
    model = DistributedDataParallel(model.cuda(), device_ids=[local_rank])
    return model
```

```python good
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Linear(8, 2).to(local_rank).to(torch.bfloat16)
    model = DistributedDataParallel(model, device_ids=[local_rank])
    return model
```

## Fix

Safe where the move follows the wrapper in the same expression, or in the same block: the model is moved first. A run
that worked did not move anything. There is none where the model is not moved anywhere in sight.

## At run time

Confirmed when the wrapper is refused, or when a parameter's device or type at the first step is not what it was when it
was wrapped. Refuted when both are the same. Not exercised on the CPU, as far as devices are concerned.

## References

- The order of moving and wrapping: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    BACKWARD,
    Applicability,
    Attribute,
    Call,
    Change,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Missing,
    Move,
    Name,
    Project,
    Role,
    Rule,
    Script,
    Sequence,
    reaching,
    shown,
    written,
)

RULE = Rule(
    code="DDP102",
    name="ddp-before-device",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
    applicability=Applicability.SAFE,
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
START = "torch.distributed.init_process_group"


@dataclass(frozen=True, slots=True)
class LateMove:
    """A wrapper and the move of it that belongs before it."""

    wrap: Call
    module: Expression
    move: Move


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report wrappers that come too early."""
    if project.role(script) is Role.TEST:
        return
    for wrap in project.calls(script, WRAP):
        module = project.argument(wrap, "module")
        if project.certainly(wrap.callee, WRAP) and not isinstance(module, Missing):
            yield from _of_device(wrap, module, project)
            yield from _of_type(wrap, module, project)


def _of_device(wrap: Call, module: Expression, project: Project) -> Iterator[Found]:
    """Report a wrapper around a model on the CPU that belongs on a GPU."""
    if not project.placement.is_untouched(module):
        return
    moves = [move for move in project.placement.moves_of(wrap) if move.change is Change.DEVICE]
    move = next((move for move in moves if project.placement.may_reach_gpu(move.call)), None)
    refused = _refusal(wrap, project)
    if refused is not None:
        message = f"the model still is on the CPU, and {refused}; move it to its GPU before it is wrapped"
    elif move is not None:
        message = (
            f"`{shown(move.call)}` moves the model after it was wrapped: its gradients are never exchanged, and each "
            "rank trains a model of its own; move it before it is wrapped"
        )
    else:
        return
    yield Found(
        wrap,
        message,
        related=() if move is None else ((move.call, "moved here, too late"),),
        subject=None if move is None else LateMove(wrap, module, move),
        impact=Impact.CRASH if refused is not None else Impact.WRONG,
    )


def _refusal(wrap: Call, project: Project) -> str | None:
    """Return why a wrapper of a model on the CPU can't be made."""
    ids = project.argument(wrap, "device_ids")
    origins = () if isinstance(ids, Missing) else project.origins(ids)
    if origins and all(isinstance(origin, Sequence) and origin.items for origin in origins):
        return "`device_ids` is refused with a ValueError"
    starts = project.calls(wrap.scope.script, START)
    backends = [project.argument(start, "backend") for start in starts]
    if backends and all(isinstance(backend, Constant) and backend.value == "nccl" for backend in backends):
        return "NCCL knows no CPU: the wrapper fails"
    return None


def _of_type(wrap: Call, module: Expression, project: Project) -> Iterator[Found]:
    """Report a wrapper whose parameters get another type before it is trained."""
    for move in project.placement.moves_of(wrap):
        if move.change is Change.TYPE and _precedes_training(wrap, move.call, project):
            message = (
                f"`{shown(move.call)}` casts the model after it was wrapped: its gradients are never exchanged, and "
                "each rank trains a model of its own; cast it before it is wrapped"
            )
            yield Found(move.call, message, subject=LateMove(wrap, module, move), impact=Impact.WRONG)


def _precedes_training(wrap: Call, cast: Call, project: Project) -> bool:
    """Whether a model is cast once, between its wrapper and its training, and was not cast in the same way before."""
    calls = [call for call in wrap.scope.script.calls if call.scope is wrap.scope]
    between = [call for call in calls if wrap.order < call.order < cast.order]
    return (
        cast.region.loops == wrap.region.loops
        and project.training.trains(wrap)
        and not project.training.without_gradient(cast)
        and not any(BACKWARD in project.collectives.of_call(call) for call in between)
        and not any(project.training.shows_training(call) for call in between)
        and not any(_is_alike(call, cast) for call in calls if call.order < wrap.order)
    )


def _is_alike(call: Call, cast: Call) -> bool:
    """Whether two calls are of the same method, with the same arguments."""
    methods = [made.callee.name for made in (call, cast) if isinstance(made.callee, Attribute)]
    given = [[written(argument.value) for argument in made.arguments] for made in (call, cast)]
    return len(methods) == 2 and methods[0] == methods[1] and given[0] == given[1]


def fix(found: Found, edits: Editor) -> Fix | None:
    """Move the model first."""
    late = found.subject
    if not isinstance(late, LateMove) or not isinstance(late.module, Name | Attribute | Call):
        return None
    wrap, move = late.wrap, late.move
    how = edits.source_text(move.call.node).removeprefix(edits.source_text(move.base.node))
    message = "Move the model before it is wrapped"
    if move.base is wrap:
        wrapped = _wrapped_after(late, how, edits)
        return None if wrapped is None else Fix(Applicability.SAFE, message, edits.replace(move.call.node, wrapped))
    if not isinstance(late.module, Name) or not _can_be_moved_up(late):
        return None
    line = edits.source_text(move.call.statement.node).strip()
    base, call = edits.source_text(move.base.node), edits.source_text(move.call.node)
    if line not in (call, f"{base} = {call}"):
        return None
    before = edits.insert_statements_before(wrap.statement.node, [f"{late.module.id}{how}"])
    return Fix(Applicability.SAFE, message, (*before, *edits.remove_statement(move.call.statement.node)))


def _wrapped_after(late: LateMove, how: str, edits: Editor) -> str | None:
    """Return the text of a wrapper whose model is moved inside it, where the model is its first argument."""
    callee, module = edits.source_text(late.wrap.callee.node), edits.source_text(late.module.node)
    before, _, after = edits.source_text(late.wrap.node).removeprefix(callee).partition(module)
    return f"{callee}{before}{module}{how}{after}" if not before.strip("( \t\r\n") else None


def _can_be_moved_up(late: LateMove) -> bool:
    """Whether a move stands in the block of its wrapper, and all that it names is known before the wrapper."""
    wrap, call = late.wrap, late.move.call
    names = [part for given in call.arguments for part in given.value.walk() if isinstance(part, Name)]
    return call.region is wrap.region and all(reaching(name.id, wrap) == reaching(name.id, name) for name in names)
