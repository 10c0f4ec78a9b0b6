"""An optimizer that was made of a model which is replaced, in whole or in part, before it is trained

## What it finds

In one function, behind `torch.optim.SGD(model.parameters(), ...)` or another optimizer of torch:

- the model is made anew, or is replaced by a deep copy of itself;
- a part of the model is replaced by a new module: `model.fc = nn.Linear(...)`;
- the model is cast (`model.half()`, `model.to(torch.float64)`) after the optimizer has loaded its state.

It is silent for `.to(device)`, `.cuda()` and `convert_sync_batchnorm`, which keep the parameters as the objects that
they are, where an optimizer is made or its groups are changed afterwards, in another branch or loop, and in tests.

## Why it matters

The optimizer holds the parameters that it was given. Those of the new model, or of the new part, get gradients, which
all ranks exchange in vain, and never change. Seen on two ranks with torch 2.13: no error, and the weights are the same
after three steps. A state that was loaded before the cast has the type of before, and the first step fails.

## Example

```python bad
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet50


def build(rank, classes):
    model = resnet50()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Linear(2048, classes)  #~ DDP106
    return DistributedDataParallel(model.to(rank), device_ids=[rank]), optimizer
```

```python good
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet50


def build(rank, classes):
    model = resnet50()
    model.fc = nn.Linear(2048, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return DistributedDataParallel(model.to(rank), device_ids=[rank]), optimizer
```

## Fix

None: the optimizer belongs behind the last change of the model, together with its schedule and the state that is
loaded.

## At run time

Confirmed when the parameters of the optimizer are not those of the model that is trained, with the names of those that
are missing. Refuted when they are the same.

## References

- "Constructing it": https://docs.pytorch.org/docs/stable/optim.html#constructing-it
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Found, Impact, LeftBehind, LostParameters, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP106",
    name="optimizer-before-move",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("optim",),
    everyday=True,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the changes that come too late."""
    if project.role(script) is Role.TEST:
        return
    said: set[int] = set()
    for lost in project.optimized.lost(script):
        if id(lost.at) not in said:
            said.add(id(lost.at))
            yield Found(
                lost.at,
                _message(lost),
                related=((lost.optimizer, "the optimizer is made here"),),
                impact=Impact.CRASH if lost.how is LeftBehind.CAST else Impact.WRONG,
            )


def _message(lost: LostParameters) -> str:
    model = shown(lost.model)
    if lost.how is LeftBehind.CAST:
        return (
            f"`{model}` is cast after the optimizer has loaded its state, which keeps the old type: the first step "
            "fails; cast the model before the optimizer is made"
        )
    what = f"`{model}` is made anew" if lost.how is LeftBehind.REBUILT else f"a part of `{model}` is replaced"
    return (
        f"{what} after the optimizer was made of its parameters: the new ones are never trained, and nothing says so; "
        "make the optimizer afterwards"
    )
