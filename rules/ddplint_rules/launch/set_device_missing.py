"""GPU work in a process that never chose its GPU: all processes of a machine take the first one

## What it finds

`.cuda()`, `.to("cuda")` or `torch.device("cuda")` without an index, made by every process of a program that nowhere
chooses a device. One of them in a file is reported, beside the start of the process group where there is one.

It is silent where the program speaks of `set_device`, of `CUDA_VISIBLE_DEVICES`, of `device_id=` or of a default
device, for calls that name an index, in files that neither start a group nor wrap a model, and where a framework
places the processes.

## Why it matters

Each process starts with GPU 0 as its current device, whatever its rank. All of them work there: the others stay idle,
memory runs out early, and NCCL refuses two ranks on one device ("Duplicate GPU detected").

## Symptoms

- GPU 0 holds memory of every process
- all processes use GPU 0
- NCCL error: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device
- CUDA out of memory on GPU 0

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
model = torch.nn.Linear(8, 2).cuda()  #~ DDP404
model = DistributedDataParallel(model)
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import os

torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
dist.init_process_group("nccl")
model = torch.nn.Linear(8, 2).cuda()
model = DistributedDataParallel(model)
```

```python good
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", device_id=device)
model = DistributedDataParallel(torch.nn.Linear(8, 2).to(device), device_ids=[device.index])
```

## Fix

Safe: the device is chosen before the process group is started, by LOCAL_RANK where it is set, else it is GPU 0 as
before. There is none where the group is started in another file, with a backend that may not be NCCL, by `spawn` or
SLURM (which set no LOCAL_RANK), or without `import torch`.

## At run time

Confirmed when a process other than the first of its machine opens a context on GPU 0. Refuted when each has its own.
Not exercised on the CPU.

## References

- "torch.cuda.set_device" in the notes on NCCL: https://docs.pytorch.org/docs/stable/distributed.html#initialization
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Attribute,
    Call,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP404",
    name="set-device-missing",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("cuda",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod"},
    applicability=Applicability.SAFE,
)
START = "torch.distributed.init_process_group"
WRAP = "torch.nn.parallel.DistributedDataParallel"
# What shows that a program chooses the current device somewhere.
CHOOSES = re.compile(rb"set_device|CUDA_VISIBLE_DEVICES|\bdevice_id\b|set_default_device|cuda\.device\(|current_device")

# Where processes come from these, nobody sets LOCAL_RANK.
OTHER_STARTS = (b"spawn", b"Process(", b"SLURM")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the first work on the current GPU in a program that never chooses one."""
    if project.role(script) is Role.TEST or any(map(CHOOSES.search, project.contents(script))):
        return
    start = next(iter(project.calls(script, START)), None)
    if start is None and not project.calls(script, WRAP):
        return
    found = [call for call in script.calls if _uses_current(call, project) and project.processes.all_come_to(call)]
    beside = [call for call in found if start is None or call.scope.function is start.scope.function]
    if found:
        yield Found((beside or found)[0], _message(), subject=start if _is_for_gpus(start, project) else None)


def _uses_current(call: Call, project: Project) -> bool:
    """Whether a call works on whichever GPU is the current one."""
    values = [given.value for given in call.arguments if given.keyword in (None, "device")]
    is_cuda = len(values) == 1 and isinstance(values[0], Constant) and values[0].value == "cuda"
    if project.names(call.callee) == {"torch.device"}:
        return is_cuda
    if not isinstance(call.callee, Attribute) or project.resolver.function_of(call) is not None:
        return False
    return (call.callee.name == "cuda" and not values) or (call.callee.name == "to" and is_cuda)


def _is_for_gpus(start: Call | None, project: Project) -> bool:
    """Whether a group can only be started with GPUs, by a launcher that sets LOCAL_RANK."""
    if start is None or project.mentions(start.scope.script, OTHER_STARTS):
        return False
    backend = project.argument(start, "backend")
    given = project.constants(backend) if isinstance(backend, Expression) else None
    return given == frozenset[object]({"nccl"}) and _has_torch(start.scope.script)


def _has_torch(script: Script) -> bool:
    """Whether the name ``torch`` is the package, and nothing else, in the whole file."""
    bindings = script.scope.bindings.get("torch", ())
    return bool(bindings) and all(binding.imported == "torch" for binding in bindings)


def _message() -> str:
    return (
        "no process of this program chooses its GPU, so all of them work on GPU 0; call "
        "torch.cuda.set_device(local_rank) before init_process_group"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Choose the device before the group is started."""
    if not isinstance(found.subject, Call):
        return None
    line = 'torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))'
    changes = edits.insert_statements_before(found.subject.statement.node, [line])
    return Fix(Applicability.SAFE, "Choose the GPU by LOCAL_RANK first", (*changes, *edits.add_import("import os")))
