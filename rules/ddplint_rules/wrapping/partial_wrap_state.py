"""A module that is trained beside a wrapped model and stands in no wrapper itself

## What it finds

An optimizer of torch that is given the parameters of a module with layers of its own, made in the function and never
wrapped, where the same function wraps another model in DistributedDataParallel: a loss with weights such as a margin
head, a projection, a critic, the second net of a GAN.

It is silent for modules without parameters, for those that are handed to anything that may wrap or hold them, for
modules that are told their rank and may hold a share, where the program exchanges gradients itself, and in tests.

## Why it matters

Only what stands in a wrapper has its gradients exchanged. Each rank trains the lone module on its own share of the
data. Nothing fails, and the wrapped model still is the same on all ranks. Seen on two ranks with torch 2.13: after
three steps the weights of the lone layer differ, and a checkpoint holds those of one rank.

## Example

```python bad
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(loader, backbone, rank):
    backbone = DistributedDataParallel(backbone.to(rank), device_ids=[rank])
    head = nn.Linear(512, 1000).to(rank)
    optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)  #~ DDP114
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(head(backbone(inputs)), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python good
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(loader, backbone, rank):
    backbone = DistributedDataParallel(backbone.to(rank), device_ids=[rank])
    head = DistributedDataParallel(nn.Linear(512, 1000).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(head(backbone(inputs)), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix

None: what reads the module, saves it or loads it has to know of the wrapper. One module that holds both needs one.

## At run time

Confirmed when the parameters of the module differ between the ranks after a step. Refuted when they are equal.

## References

- What DDP exchanges: https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Found, Impact, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP114",
    name="partial-wrap-state",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
)
WRAP = "torch.nn.parallel.DistributedDataParallel"


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report modules that train alone."""
    if project.role(script) is Role.TEST:
        return
    for lone in project.optimized.lone(script):
        if not project.certainly(lone.wrap.callee, WRAP):
            continue
        module = shown(lone.module)
        yield Found(
            lone.module,
            f"`{module}` is trained and stands in no wrapper: its gradients are not exchanged, and each rank trains "
            "one of its own; wrap it in DistributedDataParallel too, or put both into one module",
            related=((lone.wrap, "another model is wrapped here"),),
        )
