"""A GPU that is written into code which every process runs, so that all of them work on it

## What it finds

A constant GPU in code that every process of the program comes to: `.cuda(0)`, `.to("cuda:0")`, `set_device(0)`,
`device_ids=[0]`, `device="cuda:0"` of the functions of torch, and `map_location="cuda:0"`, also through variables and
`torch.device`. It is reported where the number is written.

It is silent under a test of the rank, in the branch for a single process, where the device can also be another one,
where it comes from an option, where a constant rank shows that there is one process, where the program gives each
process a CUDA_VISIBLE_DEVICES of its own, and where a framework places the processes. A program whose ranks come from
the command line, with nothing that tells the processes of one machine apart, may run one process a machine: that is
merely possible (`--pedantic`).

## Why it matters

All processes of a machine share that GPU: the others stay idle, memory runs out early, and NCCL refuses two ranks on
one device ("Duplicate GPU detected"). Where the model is on the GPU of the rank and the data on the fixed one, every
process but the first ends with "Expected all tensors to be on the same device".

## Symptoms

- all processes use the same GPU
- GPU 0 is full and the other GPUs are empty
- Duplicate GPU detected

## Example

```python bad
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")  #~ DDP406
model = DistributedDataParallel(torch.nn.Linear(8, 2).to(device))
```

```python fixed
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if torch.cuda.is_available() else "cpu")
model = DistributedDataParallel(torch.nn.Linear(8, 2).to(device))
```

```python good
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda(local_rank), device_ids=[local_rank])
if dist.get_rank() == 0:
    samples = torch.randn(4, 8, device="cuda:0")
    print(model.module(samples))
```

## Fix

Unsafe: LOCAL_RANK, where it is set, takes the place of the number. It is unsafe since other places may go on to use
the old GPU, and since a job that fitted on one GPU then takes all. There is none for programs that spawn their
processes, where nobody sets LOCAL_RANK: hand the index of the process on.

## At run time

Confirmed when a process other than the first of its machine opens a context on that GPU. Refuted when only one does.
Not exercised on the CPU, or with one process.

## References

- One GPU for each process: https://docs.pytorch.org/docs/stable/notes/ddp.html
- `set_device` and NCCL: https://docs.pytorch.org/docs/stable/distributed.html#initialization
"""

from __future__ import annotations

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
    FixedDevice,
    Found,
    Impact,
    Project,
    RankValue,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP406",
    name="fixed-device",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("cuda",),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod"},
    applicability=Applicability.UNSAFE,
)

START = "torch.distributed.init_process_group"
RANKS = frozenset({RankValue.GLOBAL, RankValue.LOCAL})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the constants that send every process to one GPU, each once."""
    if project.role(script) is Role.TEST:
        return
    uses: dict[int, FixedDevice] = {}
    for use in project.fixed_devices.of(script):
        if id(use.maker) not in uses and project.processes.all_come_to(use.call):
            uses[id(use.maker)] = use
    if not uses or project.fixed_devices.are_own(script):
        return
    starts = list(_starts(script, project))
    if any(start.scope.script is script and _is_one_process(start, project) for start in starts):
        return
    confidence = Confidence.POSSIBLE if _are_numbered_by_hand(starts, project) else Confidence.LIKELY
    is_spawned = any(project.launches(start.scope.script) for start in starts)
    for use in uses.values():
        is_here = use.maker.scope.script is script
        at: Expression = use.maker if is_here else use.call
        yield Found(at, _message(use), confidence, subject=use.maker if is_here and not is_spawned else None)


def _starts(script: Script, project: Project) -> Iterator[Call]:
    """Yield the calls that start the process group of the program."""
    for path in project.program_of(script):
        if START.rpartition(".")[2].encode() in project.files.content(path):
            other = project.script(path)
            yield from () if other is None else project.calls(other, START)


def _is_one_process(start: Call, project: Project) -> bool:
    """Whether a group has one process that says which rank it plays: ``rank=0``, with whatever number of others."""
    rank = project.argument(start, "rank")
    return isinstance(rank, Expression) and bool(project.constants(rank))


def _are_numbered_by_hand(starts: list[Call], project: Project) -> bool:
    """Whether the ranks come from where they can't be followed to, and nothing here starts several processes."""
    ranks = [project.argument(start, "rank") for start in starts]
    given = [rank for rank in ranks if isinstance(rank, Expression)]
    return (
        bool(given)
        and not any(RANKS & project.rank_values.kinds(rank) for rank in given)
        and not any(project.launches(start.scope.script) for start in starts)
    )


def _message(use: FixedDevice) -> str:
    return (
        f"every process comes to `{written(use.call)}` and works on GPU {use.number}: the other GPUs stay idle, and "
        "NCCL refuses to share one; take the GPU of the local rank"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take LOCAL_RANK where it is set."""
    if not isinstance(found.subject, Constant):
        return None
    is_text = isinstance(found.subject.value, str)
    text = "f\"cuda:{os.environ.get('LOCAL_RANK', 0)}\"" if is_text else 'int(os.environ.get("LOCAL_RANK", 0))'
    changes = (*edits.replace(found.subject.node, text), *edits.add_import("import os"))
    return Fix(Applicability.UNSAFE, "Take the GPU of LOCAL_RANK, where it is set", changes)
