"""A tensor on the CPU, given to a collective of NCCL

## What it finds

A tensor that is certainly made on the CPU (`torch.tensor([...])`, `torch.zeros(1)`, `x.cpu()`, without `device=`) and
goes into a collective of torch.distributed, itself or through a function of the project, in a program whose process
group is of NCCL, or can be.

It is silent where the backend is left to PyTorch or is `"cpu:gloo,cuda:nccl"`, where the collective is given a group,
under tests of the device or the backend, and where the program sets a default device. Where only an option says
`nccl`, it is reported all the same: that is the default run.

## Why it matters

NCCL exchanges memory of GPUs only: "No backend type associated with device type cpu", on every rank, at the first
call. Meters and counters are made on the CPU without a thought, and a test on one GPU, or with gloo, never sees it.

## Example

```python bad
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
counts = torch.tensor([3.0, 4.0])  #~ DDP510
dist.all_reduce(counts)
```

```python fixed
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
counts = torch.tensor([3.0, 4.0], device="cuda")
dist.all_reduce(counts)
```

```python good
import torch
import torch.distributed as dist

dist.init_process_group("cpu:gloo,cuda:nccl")
counts = torch.tensor([3.0, 4.0])
dist.all_reduce(counts)
```

## Fix

`device="cuda"` for the call that makes the tensor, in programs that always use NCCL and select a GPU with
`set_device`. Safe where the group certainly is there by then, since such a run ended at the collective; else unsafe,
since a run without a group may have no GPU. There is none for `torch.FloatTensor` and its kin, nor for `.cpu()`.

## At run time

Confirmed by the error of the collective. Refuted when its tensors are on a GPU, or the backend takes them. Not
exercised on the CPU with gloo, or when the line was not reached.

## References

- Backends and devices: https://docs.pytorch.org/docs/stable/distributed.html#backends
- `init_process_group`:
  https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Call,
    Confidence,
    CpuTensor,
    Editor,
    Fix,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP510",
    name="device-backend-mismatch",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("reduce", "gather", "broadcast", "scatter", "all_to_all", "send", "recv", "sync"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the tensors on the CPU that come to NCCL."""
    if project.role(script) is Role.TEST:
        return
    for tensor in project.cpu_tensors.of(script):
        yield _found(tensor, project)


def _found(tensor: CpuTensor, project: Project) -> Found:
    maker = tensor.maker
    when = "" if tensor.always else " where the backend is nccl"
    message = (
        f"`{shown(tensor.call)}` gets a tensor on the CPU, and NCCL takes tensors on GPUs only: the call fails on "
        f"every rank{when}; make the tensor on the device of the process"
    )
    subject = None
    if (
        tensor.always
        and project.cpu_tensors.takes_device(maker)
        and project.mentions(maker.scope.script, [b"set_device"])
    ):
        subject = (maker, project.processes.certainly_started(maker))
    return Found(maker, message, Confidence.LIKELY, ((tensor.call, "where it is given to NCCL"),), subject=subject)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Make the tensor on the GPU of the process."""
    if not isinstance(found.subject, tuple) or not isinstance(found.at, Call):
        return None
    maker, is_started = found.subject
    applicability = Applicability.SAFE if is_started else Applicability.UNSAFE
    return Fix(applicability, "Make the tensor on the GPU", edits.insert_argument(maker.node, 'device="cuda"'))
