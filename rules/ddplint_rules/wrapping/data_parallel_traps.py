"""A forward pass that works alone and not in the replicas of DataParallel

## What it finds

In the `forward` of a model of the project that is wrapped in `nn.DataParallel`:

- `next(self.parameters())`, and loops over `self.parameters()`;
- an attribute that is counted up or made from itself: `self.steps += 1`, `self.mean = 0.9 * self.mean + ...`;
- a number or a text in what is returned: `return outputs, 1.0`, `return loss.item()`.

A model of another file is reported where it is wrapped. It is silent for models that are not wrapped so, or not for
certain, for attributes that are only handed on within one forward, for buffers that are changed in place, and in tests.

## Why it matters

With several GPUs DataParallel runs copies of the model, made anew for each batch. Seen with torch 2.11: a copy has no
`parameters()` (`next` ends in a StopIteration), what it stores in itself is gone with it (a counter stays 0), and the
results are joined as tensors (a number ends in a TypeError, a text comes back as `<map object>`). With one GPU there
are no copies, and nothing shows.

## Example

```python bad
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, inputs):
        device = next(self.parameters()).device  #~ DDP119
        return self.layer(inputs + torch.ones(8, device=device))


model = nn.DataParallel(Net())
```

```python good
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, inputs):
        return self.layer(inputs + torch.ones(8, device=inputs.device))


model = nn.DataParallel(Net())
```

## Fix

None. DistributedDataParallel makes no copies and has none of these traps: see DDP101.

## At run time

Confirmed by the error of the first batch with several GPUs, or by an attribute that is as before after a batch. Refuted
when the batch runs and the attribute has changed. Not exercised with one GPU.

## References

- "In each forward, module is replicated on each device":
  https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ddplint.rulekit import (
    Attribute,
    Call,
    Class,
    Constant,
    Expression,
    Found,
    Function,
    Impact,
    Mapping,
    Name,
    Project,
    Role,
    Rule,
    Script,
    Sequence,
    Store,
    shown,
)

RULE = Rule(
    code="DDP119",
    name="data-parallel-traps",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DataParallel",),
)
WRAP = "torch.nn.DataParallel"
PARAMETERS = frozenset({"parameters", "named_parameters"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what the copies of a model cannot do, in another file: where the model is wrapped."""
    if project.role(script) is Role.TEST:
        return
    said: set[int] = set()
    for wrap in project.calls(script, WRAP):
        cls = project.models.class_inside(wrap) if project.certainly(wrap.callee, WRAP) else None
        for part in project.parts.classes(cls) if cls is not None else ():
            if id(part) not in said:
                said.add(id(part))
                yield from _of_class(part, wrap, project)


def _of_class(cls: Class, wrap: Call, project: Project) -> Iterator[Found]:
    forward = cls.methods.get("forward")
    if forward is None or not forward.parameters:
        return
    for found in (*_parameters(forward, project), *_stores(forward), *_results(forward)):
        if cls.scope.script is wrap.scope.script:
            yield replace(found, related=((wrap, "wrapped here"),))
        else:
            yield replace(found, at=wrap, message=f"in {cls.name}.forward, {found.message}")


def _parameters(forward: Function, project: Project) -> Iterator[Found]:
    """Report where a copy asks for its parameters."""
    own = forward.parameters[0].name
    for call in forward.script.calls_in(forward):
        callee = call.callee
        if not isinstance(callee, Attribute) or callee.name not in PARAMETERS or not _is_self(callee.base, own):
            continue
        nexts = (outer for outer in forward.script.calls_in(forward) if _takes(outer, call))
        if any(project.certainly(outer.callee, "builtins.next") for outer in nexts):
            end = "ends in a StopIteration; take the device or type of an input, or of a layer's weight"
            yield Found(call, f"`{shown(call)}` is empty in the copies of DataParallel: `next` {end}")
        else:
            end = "what is summed over them is missing; do it outside of forward"
            message = f"`{shown(call)}` is empty in the copies of DataParallel, and {end}"
            yield Found(call, message, impact=Impact.WRONG)


def _takes(outer: Call, call: Call) -> bool:
    return any(argument.value is call for argument in outer.arguments)


def _stores(forward: Function) -> Iterator[Found]:
    """Report what a copy is to remember from one batch to the next."""
    own = forward.parameters[0].name
    for store in forward.script.stores:
        if store.region.scope.function is not forward or store.name is None or not _is_self(store.base, own):
            continue
        if store.augmented or _is_made_from_itself(store, own):
            if _was_set_before(store, forward, own):
                continue
            message = (
                f"`{own}.{store.name}` is set in a copy that DataParallel throws away after the batch: it keeps its "
                "first value; change a registered buffer in place, or keep it outside of the model"
            )
            yield Found(store, message, impact=Impact.WRONG)


def _is_made_from_itself(store: Store, own: str) -> bool:
    parts = () if store.value is None else store.value.walk()
    return any(isinstance(part, Attribute) and part.name == store.name and _is_self(part.base, own) for part in parts)


def _was_set_before(store: Store, forward: Function, own: str) -> bool:
    """Whether the same forward begins with a new value."""
    return any(
        other.name == store.name
        and other.order < store.order
        and other.region.scope.function is forward
        and _is_self(other.base, own)
        and not other.augmented
        and not _is_made_from_itself(other, own)
        for other in forward.script.stores
    )


def _results(forward: Function) -> Iterator[Found]:
    """Report results that are no tensors."""
    for result in forward.returns:
        for part in _parts(result):
            if _is_number(part):
                message = (
                    f"`{shown(part)}` is returned from the copies of DataParallel, which can join tensors alone: the "
                    "first batch fails; return a tensor"
                )
                yield Found(part, message)


def _parts(result: Expression) -> Iterator[Expression]:
    if isinstance(result, Sequence):
        for item in result.items:
            yield from _parts(item)
    elif isinstance(result, Mapping):
        for _, value in result.items:
            yield from _parts(value)
    else:
        yield result


def _is_number(part: Expression) -> bool:
    if isinstance(part, Call):
        return isinstance(part.callee, Attribute) and part.callee.name == "item" and not part.arguments
    return isinstance(part, Constant) and isinstance(part.value, int | float | str)


def _is_self(base: Expression, own: str) -> bool:
    return isinstance(base, Name) and base.id == own
