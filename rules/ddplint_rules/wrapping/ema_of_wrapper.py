"""A copy of a model and the model itself, of which only one stands in a wrapper, so that their states do not fit

## What it finds

- `average.load_state_dict(model.state_dict())`, where one of the two certainly is in DistributedDataParallel or
  DataParallel and the other is not: an average, a teacher, a target net;
- with `--pedantic`: `copy.deepcopy(model)` and `AveragedModel(model)` of a model in DistributedDataParallel.

It is silent where both are wrapped, where a prefix is taken off, where what stands around one of them is not known, and
in tests. Of states that go through a file, DDP604 speaks.

## Why it matters

The names in the state of a wrapped model begin with `module.`. Loading fails with "Missing key(s) in state_dict". With
`strict=False` it is worse: nothing fits, nothing is loaded and nothing is said; the average stays as it was made. Both
were seen on two ranks with torch 2.13. A copy of the wrapper holds buckets of its own, exchanges buffers in its
forward, so that one rank alone waits for ever, and is saved under `module.module.` names.

## Example

```python bad
import copy

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    net = nn.Linear(8, 8).to(local_rank)
    average = copy.deepcopy(net)
    model = DistributedDataParallel(net, device_ids=[local_rank])
    average.load_state_dict(model.state_dict())  #~ DDP115
    return model, average
```

```python fixed
import copy

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    net = nn.Linear(8, 8).to(local_rank)
    average = copy.deepcopy(net)
    model = DistributedDataParallel(net, device_ids=[local_rank])
    average.load_state_dict(model.module.state_dict())
    return model, average
```

```python good
import copy

from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = DistributedDataParallel(nn.Linear(8, 8).to(local_rank), device_ids=[local_rank])
    average = copy.deepcopy(model.module)
    average.load_state_dict(model.module.state_dict())
    return model, average
```

## Fix

Safe where the model is wrapped on every run, and loading is strict: `.module` is added, the line failed before. Unsafe
with `strict=False`, where the values change from then on.

## At run time

Confirmed by the RuntimeError, or by a copy whose names are not those of the model. Refuted when the names are the same.

## References

- `load_state_dict`: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
- AveragedModel: https://docs.pytorch.org/docs/stable/generated/torch.optim.swa_utils.AveragedModel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Call,
    Confidence,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Missing,
    Project,
    Role,
    Rule,
    Script,
    Wrapper,
    shown,
)

RULE = Rule(
    code="DDP115",
    name="ema-of-wrapper",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("load_state_dict", "deepcopy", "AveragedModel"),
    everyday=True,
    applicability=Applicability.SAFE,
)
COPIES = ("copy.deepcopy", "torch.optim.swa_utils.AveragedModel")
WRAPPERS = (Wrapper.DDP, Wrapper.DATA_PARALLEL)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report states that are handed from one model to another and do not fit, and copies of wrappers."""
    if project.role(script) is Role.TEST:
        return
    for call in script.calls:
        if isinstance(call.callee, Attribute) and call.callee.name == "load_state_dict" and call.arguments:
            yield from _of_load(call, call.callee.base, project)
    for call in project.calls(script, *COPIES):
        model = call.arguments[0].value if call.arguments else None
        if model is not None and project.models.is_certainly(model, Wrapper.DDP):
            message = (
                f"`{shown(call)}` copies the wrapper too: its state has other names than the model's, and its forward "
                f"waits for the other ranks; copy `{shown(model)}.module`"
            )
            yield Found(call, message, Confidence.POSSIBLE, impact=Impact.WRONG)


def _of_load(call: Call, taker: Expression, project: Project) -> Iterator[Found]:
    """Report a load of a state that another model gives at once."""
    state = call.arguments[0].value
    if not isinstance(state, Call) or not isinstance(state.callee, Attribute) or state.callee.name != "state_dict":
        return
    giver = state.callee.base
    for wrapped, other in ((giver, taker), (taker, giver)):
        if _is_wrapped(wrapped, project) and project.models.is_certainly(other, Wrapper.BARE):
            strict = _is_strict(call, project)
            yield Found(
                call,
                _message(wrapped, other, strict),
                impact=Impact.CRASH if strict else Impact.WRONG,
                subject=(wrapped, strict) if _is_always_wrapped(wrapped, project) else None,
            )


def _is_wrapped(model: Expression, project: Project) -> bool:
    return any(project.models.wrapped_once(model, wrapper) for wrapper in WRAPPERS)


def _is_always_wrapped(model: Expression, project: Project) -> bool:
    return any(project.models.is_certainly(model, wrapper) for wrapper in WRAPPERS)


def _is_strict(call: Call, project: Project) -> bool:
    given = project.argument(call, "strict")
    return given is Missing.ABSENT or (isinstance(given, Constant) and given.value is True)


def _message(wrapped: Expression, other: Expression, strict: bool) -> str:
    cost = "loading fails" if strict else "with `strict=False` nothing is loaded, and nothing says so"
    return (
        f"the names in the state of `{shown(wrapped)}`, which is wrapped, begin with `module.`, and those of "
        f"`{shown(other)}` do not: {cost}; use `{shown(wrapped)}.module`"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take the state of the model inside, or load into it."""
    if not isinstance(found.subject, tuple):
        return None
    wrapped, strict = found.subject
    assert isinstance(wrapped, Expression)
    applicability = Applicability.SAFE if strict else Applicability.UNSAFE
    return Fix(applicability, "Use the model in the wrapper", edits.insert_after(wrapped.node, ".module"))
