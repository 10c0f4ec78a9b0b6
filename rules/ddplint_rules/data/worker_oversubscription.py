"""Every process starts as many loader workers as the machine has cores

## What it finds

A `DataLoader` whose `num_workers` is the number of cores of the machine: `os.cpu_count()`, that of `multiprocessing`,
`len(os.sched_getaffinity(0))`, also times or plus a constant, through names, and as the default of an option.

It is silent where the number is divided, capped by `min`, or may come from elsewhere, and for a loader that one rank
alone makes.

## Why it matters

A machine with 8 GPUs and 64 cores runs 8 processes, each of which starts 64 workers: 512 for 64 cores, and once more
for the second loader. They take memory and file handles, and get in each other's way; loading is slower than with 8
workers a process, and starting an epoch takes minutes.

## Symptoms

- This DataLoader will create worker processes in total. Our suggested max number of worker in current system is
- loading data is slow with more GPUs
- OSError: [Errno 24] Too many open files

## Example

```python bad
import os

import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    return DataLoader(
        dataset,
        sampler=DistributedSampler(dataset),
        num_workers=os.cpu_count(),  #~ DDP214
    )
```

```python fixed
import os

import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    return DataLoader(
        dataset,
        sampler=DistributedSampler(dataset),
        num_workers=max(1, os.cpu_count() // int(os.environ.get("LOCAL_WORLD_SIZE", 1))),
    )
```

```python good
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    workers = os.cpu_count() // torch.cuda.device_count()
    return DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset), num_workers=workers)
```

## Fix

Safe: the number is divided by LOCAL_WORLD_SIZE, which torchrun sets; a run without it goes on as before, and one worker
is left in any case. There is none where the program starts its processes itself, and none for the default of an option.

## At run time

Confirmed when the loader workers of all processes of a machine outnumber its cores. Refuted when they do not. Not
exercised when no loader was run over, or in a run of one process.

## References

- `num_workers`: https://docs.pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading
- LOCAL_WORLD_SIZE: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
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
    Logic,
    Name,
    Operation,
    Origin,
    Project,
    RankSet,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP214",
    name="worker-oversubscription",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("num_workers", "DataLoader"),
    applicability=Applicability.SAFE,
)
_CORES = (
    "os.cpu_count",
    "os.process_cpu_count",
    "multiprocessing.cpu_count",
    "torch.multiprocessing.cpu_count",
    "psutil.cpu_count",
)
_USABLE = "os.sched_getaffinity"
_WHERE_TO_DIVIDE = 'int(os.environ.get("LOCAL_WORLD_SIZE", 1))'


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the loaders that take all cores in every process."""
    if project.role(script) is Role.TEST or not project.is_distributed(script):
        return
    for loader in project.loaders(script):
        workers = loader.argument("num_workers")
        if not isinstance(workers, Expression) or not _takes_all(workers, project):
            continue
        which = project.ranks(loader.call).which
        if which in (RankSet.ALL, RankSet.UNKNOWN):
            yield Found(
                workers,
                f"`{written(workers)}` is the number of cores of the machine, and every process starts as many "
                "workers: they outnumber the cores and slow each other down; divide by the processes of the machine",
                Confidence.LIKELY if which is RankSet.ALL else Confidence.POSSIBLE,
                related=((loader.call, "the loader"),),
                subject=workers if _can_be_divided(workers, project) else None,
            )


def _takes_all(workers: Expression, project: Project) -> bool:
    """Whether a number is that of all cores; a constant beside it stands in where they can't be counted."""
    origins = project.origins(workers)
    counted = [origin for origin in origins if not _stands_in(origin)]
    return bool(counted) and all(_counts_cores(origin, project) for origin in counted)


def _can_be_divided(workers: Expression, project: Project) -> bool:
    """Whether a variable of the launcher may tell by what to divide, and nobody can have chosen the number himself."""
    chosen = any(isinstance(origin, Attribute) for origin in project.origins(workers))
    return not chosen and not project.machines.is_one(workers.scope.script)


def _stands_in(origin: Origin) -> bool:
    return isinstance(origin, Constant) and origin.value == 1


def _counts_cores(origin: Origin, project: Project) -> bool:
    if isinstance(origin, Operation) and origin.operator in ("*", "+", "-") and len(origin.operands) == 2:
        first, second = origin.operands
        return _takes_all(first, project) and isinstance(second, Constant)
    if isinstance(origin, Attribute):
        option = project.options.of(origin)
        return option is not None and option.default is not None and _takes_all(option.default, project)
    if not isinstance(origin, Call):
        return False
    if project.certainly(origin.callee, "builtins.len", "builtins.int") and len(origin.arguments) == 1:
        inner = origin.arguments[0].value
        usable = isinstance(inner, Call) and project.certainly(inner.callee, _USABLE)
        return usable or (project.certainly(origin.callee, "builtins.int") and _takes_all(inner, project))
    return project.certainly(origin.callee, *_CORES)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Divide by the processes of the machine."""
    workers = found.subject
    if not isinstance(workers, Name | Attribute | Call | Logic):
        return None
    text = edits.source_text(workers.node)
    if isinstance(workers, Logic) and not text.startswith("("):
        text = f"({text})"
    changes = edits.replace(workers.node, f"max(1, {text} // {_WHERE_TO_DIVIDE})")
    return Fix(
        Applicability.SAFE,
        "Divide the cores by LOCAL_WORLD_SIZE, where it is set",
        (*changes, *edits.add_import("import os")),
    )
