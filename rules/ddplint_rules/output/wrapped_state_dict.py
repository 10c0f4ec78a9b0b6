"""A checkpoint written from the wrapped model and loaded into the bare one, or the other way round

## What it finds

`state_dict()` of a model in DataParallel or DistributedDataParallel that goes to `torch.save`, where another place of
the program loads that checkpoint into the model without its wrapper. Also the reverse: the state of the bare model is
saved, and `load_state_dict` of the wrapper takes it. Two places are of one checkpoint when their paths spell the same
file name and both name the same key for the state.

It is silent where both sides hold a wrapper or none, where the model is wrapped only on some runs, where the program
takes the `module.` prefix off or puts it on, where `strict` is given, where an error of the load is caught, for weights
that were trained elsewhere, and wherever it can't be seen what is around the model or where the checkpoint goes.

## Why it matters

The wrapper keeps the model as its `module`, so each of its keys begins with `module.`. The model without the wrapper
has no such key: `load_state_dict` fails with a list of all keys, missing and unexpected. It is found when the run is
resumed or evaluated, after the training that made the file. Whoever then passes `strict=False` loads nothing at all.

## Symptoms

- Missing key(s) in state_dict: Unexpected key(s) in state_dict: module.
- keys of a checkpoint begin with module.

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18


def train(local_rank, rank, epochs, resume):
    model = resnet18().to(local_rank)
    if resume:
        model.load_state_dict(torch.load("last.pt", map_location="cpu"))
    model = DistributedDataParallel(model, device_ids=[local_rank])
    for epoch in range(epochs):
        train_epoch(model, epoch)
        if rank == 0:
            torch.save(model.state_dict(), "last.pt")  #~ DDP604
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18


def train(local_rank, rank, epochs, resume):
    model = resnet18().to(local_rank)
    if resume:
        model.load_state_dict(torch.load("last.pt", map_location="cpu"))
    model = DistributedDataParallel(model, device_ids=[local_rank])
    for epoch in range(epochs):
        train_epoch(model, epoch)
        if rank == 0:
            torch.save(model.module.state_dict(), "last.pt")
```

The wrapper that saved the checkpoint can load it:

```python good
import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18


def train(local_rank, rank, epochs, resume):
    model = DistributedDataParallel(resnet18().to(local_rank), device_ids=[local_rank])
    if resume:
        model.load_state_dict(torch.load("last.pt", map_location="cpu"))
    for epoch in range(epochs):
        train_epoch(model, epoch)
        if rank == 0:
            torch.save(model.state_dict(), "last.pt")
```

## Fix

Unsafe: `.module` is added on the side of the wrapper. Checkpoints that were saved before have the other keys, and code
outside of the program may read the file.

## At run time

Confirmed when the keys in the file begin with `module.` and those of the model that loads it do not, or the reverse.
Refuted when both agree. Not exercised when the run saved nothing.

## References

- Saving a wrapped model: https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html#saving-torch-nn-dataparallel-models
- `load_state_dict`: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Confidence,
    Editor,
    Fix,
    Found,
    Impact,
    Mismatch,
    Project,
    Role,
    Rule,
    Script,
    last_name,
    shown,
)

RULE = Rule(
    code="DDP604",
    name="wrapped-state-dict",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("state_dict",),
    discharged_by=LOOP_DRIVERS | {"deepspeed", "megatron"},
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the calls on the wrapper whose state has the other keys than those of the model on the other side."""
    if project.role(script) is Role.TEST or not project.mentions(script, (b"DataParallel",)):
        return
    for found in project.stored_states.mismatches(script):
        yield Found(
            found.at,
            _message(found),
            Confidence.LIKELY,
            related=((found.other, "the bare model"),) if found.other.scope.script is script else (),
            subject=found,
        )


def _message(found: Mismatch) -> str:
    model, other = shown(found.wrapped), found.other
    elsewhere = "" if other.scope.script is found.at.scope.script else f" in {other.scope.script.path}"
    prefix = f"`{model}` is wrapped in {found.wrapper.value}"
    if last_name(found.at.callee) == "state_dict":
        return (
            f"{prefix}, so this saves keys with the prefix `module.`, and the checkpoint is loaded into the bare "
            f"model{elsewhere}, which has none of them; save `{model}.module.state_dict()`"
        )
    return (
        f"{prefix}, so this asks for keys with the prefix `module.`, and the checkpoint is saved from the bare "
        f"model{elsewhere}, which has none; load it into `{model}.module`"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take the state of the model inside of the wrapper."""
    if not isinstance(found.subject, Mismatch):
        return None
    model = found.subject.wrapped
    return Fix(Applicability.UNSAFE, f"Go to `{shown(model)}.module`", edits.insert_after(model.node, ".module"))
