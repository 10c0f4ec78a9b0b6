"""DistributedDataParallel given several GPUs, the same GPU in every process, or an output on another one

## What it finds

- `device_ids` with more than one GPU: a list of several, or all that the machine has;
- `device_ids` with the same number in every process, such as `[0]`;
- `device_ids` that is a number and no list;
- `output_device` without `device_ids`, or with a number where `device_ids` says something else.

It is silent for values that the code in sight does not settle, for one number where the program speaks of
`CUDA_VISIBLE_DEVICES` or starts a group of one process, and in tests. The global rank as an index is DDP405.

## Why it matters

A process of DistributedDataParallel works on one GPU. More than one is a ValueError, a number without a list a
TypeError. With `[0]` each process sends its inputs to GPU 0, where only one of them has its model. `output_device`
alone is a ValueError on every rank but 0. Beside one GPU in `device_ids` it does nothing: the output stays where the
model is.

## Symptoms

- ValueError: DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-
  device GPU modules or CPU modules
- ValueError: device_ids can only be None or contain a single element

## Example

```python bad
import os

import torch
from torch.nn.parallel import DistributedDataParallel

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda(), device_ids=[0, 1])  #~ DDP103
```

```python fixed
import os

import torch
from torch.nn.parallel import DistributedDataParallel

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda(), device_ids=[local_rank])
```

```python good
import os

import torch
from torch.nn.parallel import DistributedDataParallel

local_rank = int(os.environ["LOCAL_RANK"])
on_gpu = torch.cuda.is_available()
model = torch.nn.Linear(8, 2).to(torch.device("cuda", local_rank) if on_gpu else "cpu")
model = DistributedDataParallel(model, device_ids=[local_rank] if on_gpu else None)
```

## Fix

Safe for several GPUs, where the process chose its own by `set_device` before; for a local rank, which becomes a list;
and for an `output_device` that is refused or ignored, which is left out. Unsafe for one number and for all GPUs: both
are right where something outside the program shows each process a single GPU. Otherwise there is none.

## At run time

Confirmed when the wrapper refuses its arguments, or when two processes of a machine name the same GPU. Refuted when
each names its own. Not exercised on the CPU.

## References

- device_ids and output_device: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    Call,
    Comprehension,
    Confidence,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Missing,
    Origin,
    Project,
    RankValue,
    Role,
    Rule,
    Script,
    Sequence,
    written,
)

RULE = Rule(
    code="DDP103",
    name="ddp-device-ids",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DistributedDataParallel", "device_ids"),
    applicability=Applicability.SAFE,
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
START = "torch.distributed.init_process_group"
# Where this is spoken of, processes may see one GPU each, which is number 0 for all of them.
NARROWS = (b"CUDA_VISIBLE_DEVICES",)
RANKS = frozenset({RankValue.LOCAL, RankValue.GLOBAL})


@dataclass(frozen=True, slots=True)
class Repair:
    """What the fix puts in the place of an argument; None: the argument is left out."""

    call: Call
    value: Expression
    text: str | None
    applicability: Applicability


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what wrappers are told about devices."""
    if project.role(script) is Role.TEST:
        return
    for wrap in project.calls(script, WRAP):
        if not project.certainly(wrap.callee, WRAP):
            continue
        ids = project.argument(wrap, "device_ids")
        output = project.argument(wrap, "output_device")
        yield from () if isinstance(ids, Missing) else _of_ids(wrap, ids, project)
        yield from () if isinstance(output, Missing) else _of_output(wrap, ids, output, project)


def _of_ids(wrap: Call, ids: Expression, project: Project) -> Iterator[Found]:
    """Report ids that are wrong wherever they are not left out."""
    given = [origin for origin in project.origins(ids) if not _is_none(origin)]
    chosen = project.devices.chosen_before(wrap)
    own = None if chosen is None else f"[{chosen.id}]"
    example = own or "[local_rank]"
    if not given:
        return
    if all(_is_number(origin, project) for origin in given):
        listed = None if project.constants(ids) else f"[{written(ids)}]"
        message = f"`device_ids` is no list: the wrapper fails with a TypeError; write {listed or example}"
        yield Found(ids, message, Confidence.CERTAIN, subject=_repair(wrap, ids, listed, Applicability.SAFE))
    elif all(_are_several(origin) for origin in given):
        message = f"a process of DDP has one GPU, and more of them are refused with a ValueError; write {example}"
        yield Found(ids, message, Confidence.CERTAIN, subject=_repair(wrap, ids, own, Applicability.SAFE))
    elif all(_are_all(origin, project) for origin in given) and not project.mentions(wrap.scope.script, NARROWS):
        message = (
            "these are all GPUs of the machine, and a process of DDP has one: where there are more, the wrapper fails "
            f"with a ValueError; write {example}"
        )
        yield Found(ids, message, subject=_repair(wrap, ids, own, Applicability.UNSAFE))
    elif all(_are_constant(origin, project) for origin in given) and not _is_alone(wrap.scope.script, project):
        message = (
            "every process names the same GPU: all but one have their model elsewhere and fail at the first batch, or "
            f"all share that GPU and NCCL refuses; write {example}"
        )
        yield Found(ids, message, subject=_repair(wrap, ids, own, Applicability.UNSAFE))


def _of_output(wrap: Call, ids: Expression | Missing, output: Expression, project: Project) -> Iterator[Found]:
    """Report an output device that is refused, or that the wrapper does not heed."""
    origins = project.origins(output)
    repair = Repair(wrap, output, None, Applicability.SAFE)
    if any(map(_is_none, origins)):
        return
    if ids is Missing.ABSENT or (isinstance(ids, Constant) and ids.value is None):
        if not any(isinstance(origin, Constant) for origin in origins):
            message = (
                "`output_device` without `device_ids` is refused with a ValueError on every rank but 0; write "
                f"device_ids=[{written(output)}], or leave both out"
            )
            yield Found(output, message, subject=repair)
        return
    own = ids.items[0] if isinstance(ids, Sequence) and len(ids.items) == 1 else None
    if own is not None and isinstance(output, Constant) and project.constants(own) is None:
        message = (
            f"`output_device={written(output)}` does nothing beside one GPU in `device_ids`: outputs stay on "
            f"`{written(own)}`, not on GPU {written(output)}; leave it out"
        )
        yield Found(output, message, subject=repair, impact=Impact.NOISE)


def _repair(wrap: Call, ids: Expression, own: str | None, applicability: Applicability) -> Repair | None:
    return None if own is None else Repair(wrap, ids, own, applicability)


def _is_none(origin: Origin) -> bool:
    return isinstance(origin, Constant) and origin.value is None


def _is_number(origin: Origin, project: Project) -> bool:
    if isinstance(origin, Constant):
        return isinstance(origin.value, int)
    return isinstance(origin, Expression) and bool(RANKS & project.rank_values.kinds(origin))


def _are_several(origin: Origin) -> bool:
    return isinstance(origin, Sequence) and len(origin.items) > 1


def _are_all(origin: Origin, project: Project) -> bool:
    """Whether ids are counted up to the number of GPUs."""
    if isinstance(origin, Comprehension):
        return not origin.tests and any(_are_all(source, project) for source in origin.iterables)
    if not isinstance(origin, Call) or len(origin.arguments) != 1:
        return False
    inner = origin.arguments[0].value
    if project.certainly(origin.callee, "builtins.list", "builtins.tuple"):
        return any(_are_all(source, project) for source in project.origins(inner))
    return project.certainly(origin.callee, "builtins.range") and project.rank_values.certainly(inner, RankValue.GPUS)


def _are_constant(origin: Origin, project: Project) -> bool:
    return isinstance(origin, Sequence) and len(origin.items) == 1 and bool(project.constants(origin.items[0]))


def _is_alone(script: Script, project: Project) -> bool:
    """Whether a process may see no other GPU, or no other process."""
    if project.mentions(script, NARROWS):
        return True
    sizes = [project.argument(start, "world_size") for start in project.calls(script, START)]
    return any(isinstance(size, Constant) and size.value == 1 for size in sizes)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Give the wrapper the GPU of the process."""
    repair = found.subject
    if not isinstance(repair, Repair):
        return None
    given = next((given for given in repair.call.arguments if given.value is repair.value), None)
    if given is None:
        return None
    if repair.text is None:
        changes = edits.remove_argument(repair.call.node, given.node)
        return Fix(repair.applicability, "Leave out `output_device`", changes)
    return Fix(repair.applicability, f"Write {repair.text}", edits.replace_argument(given.node, repair.text))
