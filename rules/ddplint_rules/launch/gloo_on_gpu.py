"""A process group of gloo for a model that trains on GPUs

## What it finds

`init_process_group("gloo")`, or `"mpi"`, in a program of which every process wraps a model with `device_ids`, or moves
something to a GPU with `.cuda()` and wraps a model.

It is silent where the backend can also be another one, where a test asks for CUDA, the system or the backend first,
where another group of the program may be one of NCCL, and where embeddings have sparse gradients. Where only some runs
use GPUs it is merely possible (`--pedantic`).

## Why it matters

gloo carries gradients through the memory of the host: each step waits for two copies and for a slow exchange, and is
often several times as long as with NCCL, which connects the GPUs themselves. Many collectives do not take tensors on
GPUs at all with gloo.

## Symptoms

- communication between GPUs is very slow
- the GPUs are idle while gradients are exchanged

## Example

```python bad
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("gloo")  #~ DDP410
model = torch.nn.Linear(8, 2).to(f"cuda:{local_rank}")
model = DistributedDataParallel(model, device_ids=[local_rank])
```

```python fixed
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("cpu:gloo,cuda:nccl")
model = torch.nn.Linear(8, 2).to(f"cuda:{local_rank}")
model = DistributedDataParallel(model, device_ids=[local_rank])
```

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
model = torch.nn.Linear(8, 2)
if torch.cuda.is_available():
    model = model.cuda()
model = DistributedDataParallel(model)
```

## Fix

Unsafe: `"cpu:gloo,cuda:nccl"` keeps gloo for tensors on the CPU. It is unsafe since NCCL refuses processes that share a
GPU, which gloo lets them do, and torch before 2.0 knows no backend for each device. There is none for mpi.

## At run time

Confirmed when a collective of gloo gets a tensor on a GPU. Refuted when none does. Not exercised on the CPU.

## References

- Which backend to use: https://docs.pytorch.org/docs/stable/distributed.html#which-backend-to-use
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Attribute,
    Call,
    Confidence,
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
    last_name,
)

RULE = Rule(
    code="DDP410",
    name="gloo-on-gpu",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("gloo", "mpi"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
    applicability=Applicability.UNSAFE,
)
START = "torch.distributed.init_process_group"
GROUP = "torch.distributed.new_group"
WRAP = "torch.nn.parallel.DistributedDataParallel"
SLOW = frozenset[object]({"gloo", "mpi"})
# What a test asks for that chooses a backend.
CHOICES = frozenset(
    {"is_available", "is_nccl_available", "device_count", "platform", "system", "name", "backend", "cuda"}
    | {"use_cuda", "no_cuda", "cpu", "type"}
)
EMBEDDINGS = ("torch.nn.Embedding", "torch.nn.EmbeddingBag")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the groups of gloo for models on GPUs."""
    if project.role(script) is Role.TEST:
        return
    for start in project.calls(script, START):
        backend = project.argument(start, "backend")
        if not isinstance(backend, Expression) or _is_chosen(start):
            continue
        backends = project.constants(backend)
        if backends is None or len(backends) != 1 or not backends <= SLOW or _has_other(start, script, project):
            continue
        confidence = _confidence(script, project)
        if confidence is not None:
            yield Found(backend, _message(str(*backends)), confidence, subject=backend)


def _is_chosen(start: Call) -> bool:
    """Whether a test on the way to a start may choose the backend."""
    tests = [region.test for region in start.region.chain() if region.test is not None]
    return any(last_name(part) in CHOICES for test in tests for part in test.walk())


def _has_other(start: Call, script: Script, project: Project) -> bool:
    """Whether another group of the program may have another backend."""
    for other in _scripts(script, project, b"_group"):
        for call in project.calls(other, START, GROUP):
            backend = project.argument(call, "backend")
            given = project.constants(backend) if isinstance(backend, Expression) else None
            is_left_out = not isinstance(backend, Expression) and call not in project.calls(other, START)
            if call is not start and not is_left_out and (given is None or not given <= SLOW):
                return True
    return False


def _confidence(script: Script, project: Project) -> Confidence | None:
    """Return how sure it is that the wrapped models are on GPUs, None where nothing says so."""
    wraps = [call for other in _scripts(script, project, b"Parallel") for call in project.calls(other, WRAP)]
    if not wraps or any(_is_sparse(other, project) for other in _scripts(script, project, b"sparse")):
        return None
    moves = [call for other in {wrap.scope.script for wrap in wraps} for call in other.calls if _is_move(call, project)]
    signs = [wrap for wrap in wraps if _has_devices(wrap, project)]
    is_certain = [call for call in (*wraps, *moves) if not _is_chosen(call) and project.processes.all_come_to(call)]
    if any(call in is_certain for call in signs) or all(any(c in is_certain for c in made) for made in (wraps, moves)):
        return Confidence.LIKELY
    return Confidence.POSSIBLE if signs or moves else None


def _scripts(script: Script, project: Project, word: bytes) -> Iterator[Script]:
    for path in project.program_of(script):
        if word in project.files.content(path):
            other = project.script(path)
            if other is not None:
                yield other


def _is_sparse(script: Script, project: Project) -> bool:
    """Whether embeddings have sparse gradients, which not every NCCL can add up."""
    sparse = (project.argument(call, "sparse") for call in project.calls(script, *EMBEDDINGS))
    return any(isinstance(given, Expression) and project.constants(given) != frozenset({False}) for given in sparse)


def _has_devices(wrap: Call, project: Project) -> bool:
    """Whether a wrapper is certainly given a GPU."""
    devices = project.argument(wrap, "device_ids")
    if not isinstance(devices, Expression):
        return False
    return not any(isinstance(origin, Constant) for origin in project.origins(devices))


def _is_move(call: Call, project: Project) -> bool:
    """Whether a call moves a tensor or a module to a GPU: ``.cuda()``, ``.to("cuda")``."""
    if not isinstance(call.callee, Attribute) or project.resolver.function_of(call) is not None:
        return False
    if call.callee.name == "to" and call.arguments:
        devices = project.constants(call.arguments[0].value)
        return devices is not None and bool(devices) and all(str(device).startswith("cuda") for device in devices)
    return call.callee.name == "cuda"


def _message(backend: str) -> str:
    return (
        f"{backend} carries the gradients of GPUs through the memory of the host, which takes several times as long as "
        'NCCL; write "cpu:gloo,cuda:nccl", or "nccl"'
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Keep gloo for the CPU only."""
    if not isinstance(found.subject, Constant) or found.subject.value != "gloo":
        return None
    changes = edits.replace(found.subject.node, '"cpu:gloo,cuda:nccl"')
    return Fix(Applicability.UNSAFE, "Use NCCL between GPUs, and gloo for the CPU", changes)
