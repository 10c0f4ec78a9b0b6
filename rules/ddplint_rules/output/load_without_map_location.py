"""A checkpoint that every rank loads to the GPU it was saved from, which is the first one

## What it finds

`torch.load` without `map_location`, made by every rank of a program that trains on GPUs, where a model or an optimizer
takes its state from what it returns.

It is silent where each rank loads a file of its own, under a test of the rank or of the GPU, where `map_location` may
come through `**options`, for files that no `load_state_dict` is seen to take, and where a framework restores the state.
Where the path speaks of pretrained weights, it is merely possible: they may have been saved from the CPU.

## Why it matters

torch puts each tensor back on the device that it was saved from. The first rank saves, so every process of a machine
loads the whole checkpoint to GPU 0, and opens a context of some hundred megabytes there: that GPU runs out of memory
with room on all the others. On a machine with fewer GPUs the load fails.

## Symptoms

- CUDA out of memory when a checkpoint is loaded
- GPU 0 holds memory of every process after torch.load

## Example

```python bad
import os

import torch
import torch.distributed as dist


def resume(model, optimizer, path):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    model.cuda()
    checkpoint = torch.load(path)  #~ DDP603
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]
```

```python fixed
import os

import torch
import torch.distributed as dist


def resume(model, optimizer, path):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    model.cuda()
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]
```

```python good
import os

import torch
import torch.distributed as dist


def resume(model, path):
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    model.to(device)
    model.load_state_dict(torch.load(path, map_location=device))
```

## Fix

Safe where only `load_state_dict` takes tensors of the checkpoint: it copies each to where its parameter is. Where
something else is read from it, other than an epoch, a step, options and the like, the fix is unsafe: that value would
be on the CPU.

## At run time

Confirmed when a process other than the first of its machine holds memory on GPU 0 after the line. Refuted when each
holds memory on its own GPU alone. Not exercised when nothing was loaded.

## References

- `map_location`: https://docs.pytorch.org/docs/stable/generated/torch.load.html
- Saving and loading in several processes: https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html#save-and-load-checkpoints
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
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
    Region,
    Role,
    Rule,
    Sameness,
    Script,
    last_name,
)

RULE = Rule(
    code="DDP603",
    name="load-without-map-location",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("load",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod"},
    applicability=Applicability.SAFE,
)
LOAD = "torch.load"
GIVEN_OUT = re.compile(r"pre_?train|backbone|init_?model|imagenet|model_zoo|hub", re.IGNORECASE)
# A test of these tells how many GPUs a process has, and with that how it was started.
OF_DEVICE = re.compile(r"gpu|device|cuda|cpu|local_rank", re.IGNORECASE)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the checkpoints that every rank loads to where they were saved from."""
    if project.role(script) is Role.TEST:
        return
    loads = project.calls(script, LOAD)
    if not loads or not project.mentions(script, (b"cuda", b"nccl")):
        return
    for call in loads:
        if not project.certainly(call.callee, LOAD) or project.argument(call, "map_location") is not Missing.ABSENT:
            continue
        if _asks_for_device(call) or not project.checkpoints.feeds_state(call):
            continue
        path = project.argument(call, "f")
        own = isinstance(path, Expression) and project.same_values.of(path) is Sameness.OWN
        if not own and project.processes.all_come_to(call):
            confidence = Confidence.POSSIBLE if _is_given_out(call, project) else Confidence.LIKELY
            yield Found(call, _message(), confidence, subject=project.checkpoints.feeds_only_state(call))


def _is_given_out(call: Call, project: Project) -> bool:
    """Whether the path speaks of weights to start from, which whoever gave them out may have saved from the CPU."""
    parts = [part for given in call.arguments for part in given.value.walk()]
    origins = [origin for part in parts for origin in project.origins(part) if isinstance(origin, Expression)]
    words = (part.value if isinstance(part, Constant) else last_name(part) for part in (*parts, *origins))
    return any(isinstance(word, str) and GIVEN_OUT.search(word) for word in words)


def _asks_for_device(call: Call) -> bool:
    """Whether a test around a call asks for the GPU: on the other way the checkpoint may be mapped."""
    return any(map(_tests_device, call.region.chain()))


def _tests_device(region: Region) -> bool:
    return region.test is not None and any(OF_DEVICE.search(last_name(part)) for part in region.test.walk())


def _message() -> str:
    return (
        "every rank loads this checkpoint to the GPU that it was saved from, which fills GPU 0 with one copy for each "
        'process; pass map_location="cpu"'
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Load to the CPU."""
    if not isinstance(found.at, Call):
        return None
    changes = edits.insert_argument(found.at.node, 'map_location="cpu"')
    promise = Applicability.SAFE if found.subject else Applicability.UNSAFE
    return Fix(promise, 'Load to the CPU (map_location="cpu")', changes)
