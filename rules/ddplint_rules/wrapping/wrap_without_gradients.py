"""DistributedDataParallel around a module that has no parameter to train

## What it finds

DistributedDataParallel around a module all of whose parameters were frozen before, by `requires_grad_(False)` or in a
loop over its parameters, and around a loss of torch, which has no parameters at all.

It is silent where a test chooses what is frozen, where a layer is added or something else is done with the module
between the freeze and the wrapper, where it is frozen only afterwards, and in tests.

## Why it matters

There are no gradients to exchange, and the wrapper refuses: "DistributedDataParallel is not needed when a module
doesn't have any parameter that requires a gradient". Teachers, averaged models and losses need no wrapper.

## Symptoms

- RuntimeError: DistributedDataParallel is not needed when a module doesn't have any parameters that require a
  gradient

## Example

```python bad
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(teacher, student, local_rank):
    student = DistributedDataParallel(student.to(local_rank), device_ids=[local_rank])
    teacher = teacher.to(local_rank).eval()
    for parameter in teacher.parameters():
        parameter.requires_grad = False
    teacher = DistributedDataParallel(teacher, device_ids=[local_rank])  #~ DDP112
    return teacher, student
```

```python good
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(teacher, backbone, local_rank):
    teacher = teacher.to(local_rank).eval().requires_grad_(False)
    backbone.requires_grad_(False)
    backbone.head = nn.Linear(512, 10)
    return teacher, DistributedDataParallel(backbone.to(local_rank), device_ids=[local_rank])
```

## Fix

None: what reads the module through `.module`, or loads its checkpoint, has to be changed together with the wrapper.

## At run time

Confirmed by the RuntimeError of the wrapper. Refuted when a parameter requires a gradient as it is wrapped.

## References

- requires_grad_: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.requires_grad_
- DistributedDataParallel: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Call,
    Confidence,
    Expression,
    Found,
    Impact,
    Missing,
    Name,
    Project,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP112",
    name="wrap-without-gradients",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
# The only loss of torch that has parameters.
TRAINED_LOSS = "torch.nn.AdaptiveLogSoftmaxWithLoss"


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report wrappers that have nothing to do."""
    if project.role(script) is Role.TEST:
        return
    for wrap in project.calls(script, WRAP):
        module = project.argument(wrap, "module")
        if isinstance(module, Missing) or not project.certainly(wrap.callee, WRAP):
            continue
        freeze = project.frozen.freeze_of(module)
        if freeze is not None:
            message = f"every parameter of {_named(module)} is frozen, and the wrapper fails; use it without a wrapper"
            yield Found(wrap, message, related=((freeze, "frozen here"),))
        elif _is_loss(module, project):
            message = "a loss has no parameters, and the wrapper fails; use it without a wrapper"
            yield Found(wrap, message, Confidence.CERTAIN)


def _named(module: Expression) -> str:
    return f"`{shown(module)}`" if isinstance(module, Name) else "the module"


def _is_loss(module: Expression, project: Project) -> bool:
    """Whether a module certainly is one of torch's losses."""
    origins = project.origins(module)
    names = {name for origin in origins if isinstance(origin, Call) for name in project.names(origin.callee)}
    moved = [origin for origin in origins if not isinstance(origin, Call)]
    return bool(names) and not moved and all(_names_loss(name) for name in names)


def _names_loss(name: str) -> bool:
    return name.startswith("torch.nn.") and name.endswith("Loss") and name != TRAINED_LOSS
