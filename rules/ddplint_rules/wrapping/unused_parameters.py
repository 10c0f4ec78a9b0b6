"""A wrapped model with a part that no forward uses, and a wrapper that waits for its gradients

## What it finds

DistributedDataParallel around a model of the project, whose constructor makes a part with parameters (a layer, an
`nn.Parameter`, a module of the project) that nothing in the program ever reads. Parts of parts count, too.

It is silent with `find_unused_parameters` and `static_graph`, where the program may come to parts without their names
(`children()`, `getattr`), for parts that are made only under a test, that are frozen or read anywhere, such as those
of which a weight is shared, for models that derive from classes that can't be read, and in tests. A part that only some
batches use is not found: which they are is not written into the code.

## Why it matters

After each backward pass the wrapper waits for the gradient of every parameter. One that has no part in the loss never
comes. Seen on two ranks with torch 2.13: the first step runs, and the second fails on every rank ("Expected to have
finished reduction in the prior iteration"). One process without the wrapper trains without an error.

## Example

```python bad
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)
        self.old_head = nn.Linear(8, 2)
        self.head = nn.Linear(8, 10)

    def forward(self, inputs):
        return self.head(self.encoder(inputs))


def train(loader, rank):
    model = DistributedDataParallel(Net().to(rank), device_ids=[rank])  #~ DDP120
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, targets in loader:
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
```

```python good
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)
        self.head = nn.Linear(8, 10)

    def forward(self, inputs):
        return self.head(self.encoder(inputs))


def train(loader, rank):
    model = DistributedDataParallel(Net().to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, targets in loader:
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
```

## Fix

None: a part that was forgotten in `forward` has to be used, one that is left over has to go, and checkpoints hold its
weights. `find_unused_parameters=True` hides which of the two it is, and costs time in every step.

## At run time

Confirmed by the error of the second step, or by parameters without a gradient, with their names. Refuted when every
parameter gets one.

## References

- find_unused_parameters: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
- How gradients are waited for: https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Call, Constant, Found, Impact, Missing, Project, Role, Rule, Script, UnusedPart

RULE = Rule(
    code="DDP120",
    name="unused-parameters",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
)
WRAP = "torch.nn.parallel.DistributedDataParallel"


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report wrapped models with parts that nothing reads."""
    if project.role(script) is Role.TEST:
        return
    for wrap in project.calls(script, WRAP):
        if not project.certainly(wrap.callee, WRAP) or _searches(wrap, project) or not project.training.trains(wrap):
            continue
        cls = project.models.class_inside(wrap)
        parts = [] if cls is None else list(project.unused_parts.of(cls))
        if parts:
            here = [part.store for part in parts if part.cls.scope.script is script]
            yield Found(wrap, _message(parts), related=tuple((store, "made here, and never read") for store in here))


def _searches(wrap: Call, project: Project) -> bool:
    """Whether a wrapper may know which parameters are not used."""
    given = [project.argument(wrap, name) for name in ("find_unused_parameters", "static_graph")]
    return any(one is not Missing.ABSENT and not (isinstance(one, Constant) and one.value is False) for one in given)


def _message(parts: list[UnusedPart]) -> str:
    named = ", ".join(f"`{part.cls.name}.{part.store.name}`" for part in parts[:3])
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    verb, pronoun = ("is", "it") if len(parts) == 1 else ("are", "them")
    return (
        f"{named}{more} {verb} made and never used: the wrapper waits for gradients that never come, and the second "
        f"step fails; use {pronoun} in forward, or remove {pronoun}"
    )
