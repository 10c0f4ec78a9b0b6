"""A barrier that is given a number where it takes a list of devices or a group

## What it finds

Calls of `torch.distributed.barrier` whose `device_ids` is a rank, a number, the current device or a tuple instead of a
list, and calls whose first argument, the group, is a rank or a number.

It is silent where the value can't be followed to one of these.

## Why it matters

Up to torch 2.6 a number as `device_ids` ends the process with a TypeError. Newer versions ignore it without a word:
the barrier runs on whatever device is current, on the first GPU for every process where nothing was set, which may
hang. A rank as the group is worse: zero counts as no group, so that the first rank waits for all others, and these fail
with an AttributeError in the meantime.

## Symptoms

- TypeError: barrier() got an unexpected argument
- a barrier waits for a shorter time than it says

## Example

```python bad
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.barrier(device_ids=torch.cuda.current_device())  #~ DDP516
```

```python fixed
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.barrier(device_ids=[torch.cuda.current_device()])
```

A process has set its device, or the group knows it:

```python good
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl", device_id=torch.device("cuda", local_rank))
dist.barrier()
```

## Fix

Safe for the current device: a list of one is what the argument takes. Unsafe for a rank and other numbers, since the
barrier then runs on that device, where newer versions of torch ignored it, and a process may not see so many. There is
no fix for a group: what was meant is for the author to say.

## At run time

Confirmed when the call raised, or ran on another device than the one that was given. Refuted when it took the value.
Not exercised when the line was not reached.

## References

- barrier: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier
- A list only, since the barrier's rework: https://github.com/pytorch/pytorch/pull/149144
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    Argument,
    Call,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Project,
    RankValue,
    Role,
    Rule,
    Script,
    Sequence,
    written,
)

RULE = Rule(
    code="DDP516",
    name="barrier-arguments",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("barrier",),
    applicability=Applicability.SAFE,
)
BARRIER = "torch.distributed.barrier"
CURRENT_DEVICE = frozenset({"torch.cuda.current_device", "torch.accelerator.current_device_index"})
ZERO = frozenset({0})
RANKS = frozenset({RankValue.GLOBAL, RankValue.LOCAL, RankValue.NODE})


@dataclass(frozen=True, slots=True)
class InList:
    """An argument, the device that belongs into a list in its place, and whether that changes no run that worked."""

    argument: Argument
    device: Expression
    safe: bool


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the barriers that are given a number."""
    if project.role(script) is Role.VENDORED:
        return
    for call in project.calls(script, BARRIER):
        if not project.certainly(call.callee, BARRIER):
            continue
        devices, group = project.argument(call, "device_ids"), project.argument(call, "group")
        if isinstance(devices, Expression) and (_is_number(devices, project) or _is_tuple(devices, project)):
            yield _of_devices(call, devices, project)
        if isinstance(group, Expression) and _is_number(group, project) and project.constants(group) != ZERO:
            message = (
                f"`{written(group)}` is given as the group of the barrier: every process for which it is not 0 fails "
                "with an AttributeError, and the others wait for it; call `barrier()`, or give it a group"
            )
            yield Found(group, message, Confidence.CERTAIN)


def _of_devices(call: Call, devices: Expression, project: Project) -> Found:
    item = devices.items[0] if isinstance(devices, Sequence) and len(devices.items) == 1 else devices
    message = (
        f"`device_ids={written(devices)}` is no list: torch up to 2.6 raises a TypeError, newer versions ignore it and "
        "use whatever device is current; give it a list of one device"
    )
    given = next((given for given in call.arguments if given.value is devices), None)
    subject = None if given is None or isinstance(item, Sequence) else InList(given, item, _is_current(item, project))
    return Found(devices, message, Confidence.CERTAIN, subject=subject)


def _is_number(value: Expression, project: Project) -> bool:
    """Whether a value certainly is a number that stands for a process or a device."""
    constants = project.constants(value)
    if constants:
        return all(type(constant) is int for constant in constants)
    return project.rank_values.kinds(value) <= RANKS or _is_current(value, project)


def _is_current(value: Expression, project: Project) -> bool:
    origins = project.origins(value)
    return bool(origins) and all(
        isinstance(origin, Call) and project.certainly(origin.callee, *CURRENT_DEVICE) for origin in origins
    )


def _is_tuple(value: Expression, project: Project) -> bool:
    """Whether a value certainly is a tuple or a set written down."""
    origins = project.origins(value)
    return bool(origins) and all(isinstance(origin, Sequence) and origin.kind != "list" for origin in origins)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Put the device into a list."""
    if not isinstance(found.subject, InList):
        return None
    text = f"[{edits.source_text(found.subject.device.node)}]"
    applicability = Applicability.SAFE if found.subject.safe else Applicability.UNSAFE
    return Fix(applicability, f"give it a list (`{text}`)", edits.replace_argument(found.subject.argument.node, text))
