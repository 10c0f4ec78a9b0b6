"""Parameters of a wrapped model that are frozen, woken or replaced after it was wrapped

## What it finds

After a model was wrapped in DistributedDataParallel:

- a part of it is frozen (`requires_grad = False`), and the wrapper does not look for unused parameters;
- a part of it that was frozen before the wrapper is woken (`requires_grad = True`);
- a part of it is replaced by a new module.

It is silent for changes of the whole model, as a GAN makes them around the update of the other net, for parts that are
switched off and on in one function, where the model is wrapped anew behind the change, and in tests.

## Why it matters

The wrapper notes the parameters that need a gradient when it is made, and never again. Seen on two ranks with torch
2.13: a frozen or replaced part fails in the second step after the change ("Expected to have finished reduction in the
prior iteration"). A woken part is worse: its gradients are never exchanged, nothing says so, and after three steps its
weights differ between the ranks.

## Example

```python bad
from torch.nn.parallel import DistributedDataParallel


def build(model, rank):
    model = DistributedDataParallel(model.to(rank), device_ids=[rank])
    for parameter in model.module.backbone.parameters():
        parameter.requires_grad = False  #~ DDP109
    return model
```

```python good
from torch.nn.parallel import DistributedDataParallel


def build(model, rank):
    for parameter in model.backbone.parameters():
        parameter.requires_grad = False
    return DistributedDataParallel(model.to(rank), device_ids=[rank])
```

## Fix

None: a change before the wrapper can be moved, one in the middle of the training needs a new wrapper.

## At run time

Confirmed when the set of parameters that need a gradient at a step is not that of the wrapper, by their names. Refuted
when both are the same in every step.

## References

- "you should never try to change your model's parameters after wrapping up your model":
  https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Found, Impact, LateChange, LateKind, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP109",
    name="parameters-changed-after-wrap",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DistributedDataParallel", ".module"),
    everyday=True,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the changes that the wrapper does not see."""
    if project.role(script) is Role.TEST:
        return
    for change in project.late_changes.of(script):
        here = change.wrap.scope.script is script
        yield Found(
            change.at,
            _message(change),
            related=((change.wrap, "wrapped here"),) if here else (),
            impact=Impact.WRONG if change.kind is LateKind.WOKEN else Impact.CRASH,
        )


def _message(change: LateChange) -> str:
    part = shown(change.part)
    if change.kind is LateKind.WOKEN:
        return (
            f"`{part}` was frozen when the model was wrapped: its gradients are never exchanged, and each rank trains "
            "weights of its own; wake it before, or wrap the model anew"
        )
    done = "is frozen" if change.kind is LateKind.FROZEN else "gets a new module"
    return (
        f"`{part}` {done} after the model was wrapped: the wrapper waits for the gradients that it had, and "
        "fails in the second step; do this before it is wrapped, or wrap the model anew"
    )
