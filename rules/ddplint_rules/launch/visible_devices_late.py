"""CUDA_VISIBLE_DEVICES that does not do what it is set for

## What it finds

- an id taken from CUDA_VISIBLE_DEVICES, or the number that it was just set to, used as the index of a GPU: once the
  list is narrowed, the GPUs that are left are counted from 0;
- CUDA_VISIBLE_DEVICES set after the driver has been asked for the GPUs in the same function: by
  `torch.cuda.is_available()`, too, but not by `device_count()`;
- CUDA_VISIBLE_DEVICES set to one id by a program of which several processes run on one node.

It is silent where the variable is set for a child, or in a parent that starts its processes afterwards; where only the
number of ids is used; and under a switch.

## Why it matters

With the ids 2 and 3 visible there are GPUs 0 and 1: index 2 is an error, "invalid device ordinal". After CUDA has
been asked nobody reads the variable again, and the process goes on with the GPUs that it saw before, maybe those of
somebody else. Where all processes see one GPU, every process but the first finds no device with its number, or they
share the GPU, which NCCL refuses.

## Example

```python bad
import os

import torch
import torch.distributed as dist


def worker(slot, world_size):
    ids = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    torch.cuda.set_device(int(ids[slot]))  #~ DDP407
    dist.init_process_group("nccl", rank=slot, world_size=world_size)
```

```python good
import torch
import torch.distributed as dist


def worker(slot, world_size):
    torch.cuda.set_device(slot)
    dist.init_process_group("nccl", rank=slot, world_size=world_size)
```

```python bad
import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    print(torch.cuda.get_device_name(0))
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]  #~ DDP407
```

```python good
import os

import torch
import torch.distributed as dist


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
    dist.init_process_group("nccl")
    print(torch.cuda.get_device_name(0))
```

## Fix

None: the GPUs that a job may use belong into the command that starts it, and which ones is not known here.

## At run time

Confirmed when the GPUs are counted before the variable changes, when an index is not below the number of visible GPUs,
or when two processes of a node use one GPU. Refuted when none of this happens. Not exercised without GPUs.

## References

- CUDA_VISIBLE_DEVICES: https://docs.pytorch.org/docs/stable/notes/cuda.html#device-management
- torchrun and LOCAL_RANK: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    VisibleMisuse,
    VisibleUse,
    written,
)

RULE = Rule(
    code="DDP407",
    name="visible-devices-late",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("CUDA_VISIBLE_DEVICES",),
    discharged_by=LOOP_DRIVERS,
)
EXPLAINED = {
    VisibleMisuse.ORDINAL: "the id comes from here",
    VisibleMisuse.LATE: "this counts the GPUs",
    VisibleMisuse.PINNED: "",
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the misuses of the variable in programs of several processes."""
    if project.role(script) is Role.TEST or not project.is_distributed(script):
        return
    for use in project.visible_devices.misuses(script):
        explained = EXPLAINED[use.misuse]
        yield Found(use.at, _message(use), related=((use.other, explained),) if explained else ())


def _message(use: VisibleUse) -> str:
    what = f"`{written(use.at)}`"
    if use.misuse is VisibleMisuse.ORDINAL:
        return (
            f"{what} is the id of a GPU, not its index: of the GPUs that CUDA_VISIBLE_DEVICES leaves, the first is 0; "
            "use the local rank"
        )
    if use.misuse is VisibleMisuse.LATE:
        return (
            f"CUDA_VISIBLE_DEVICES is set to {what} after the GPUs were counted, and no longer read: the process keeps "
            "the GPUs that it saw; set it before"
        )
    return (
        f"every process of a node sees the GPU {what} only: there is none for the second one; leave the variable to "
        "the command that starts the job"
    )
