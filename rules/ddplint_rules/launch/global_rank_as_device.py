"""The rank in the whole job used as the index of a GPU, which no machine but the first has

## What it finds

`get_rank()` or the variable RANK as an index of a GPU: in `set_device`, `torch.device`, `cuda`, `to`, `device_ids` and
`output_device`, also through names and in `f"cuda:{rank}"`. All places of a file are one finding.

It is silent for the index that `spawn` hands to a process, for `rank % torch.cuda.device_count()`, where a number may
also be something else, and in programs for one machine: they start their processes by `spawn`, or meet at `localhost`.

## Why it matters

On one machine both ranks are the same, and everything works. On the second machine of eight GPUs each, the ranks go
from 8 to 15, and its GPUs from 0 to 7: every process there ends with "invalid device ordinal".

## Symptoms

- RuntimeError: CUDA error: invalid device ordinal
- training crashes on the second machine

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)  #~ DDP405
model = DistributedDataParallel(torch.nn.Linear(4, 2).cuda())
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import os

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
model = DistributedDataParallel(torch.nn.Linear(4, 2).cuda())
```

```python good
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
device = torch.device("cuda", dist.get_rank() % torch.cuda.device_count())
```

## Fix

Safe: LOCAL_RANK, which torchrun sets, else the number that was there: a run that worked goes on as before.

## At run time

Confirmed when a process asks for an index that is not below `device_count()`, also on a second machine that is only
simulated. Refuted when each index is below it there. Not exercised in a run that simulates one machine.

## References

- LOCAL_RANK: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    DeviceIndex,
    Editor,
    Fix,
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
    code="DDP405",
    name="global-rank-as-device",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("rank", "RANK"),
    everyday=True,
    discharged_by=frozenset({"lightning", "accelerate", "horovod", "ray"}),
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the first GPU that a file asks for by the rank in the job."""
    if project.role(script) is Role.TEST or project.machines.is_one(script):
        return
    used = [use for use in project.devices.of(script) if project.rank_values.certainly(use.index, RankValue.GLOBAL)]
    if used:
        related = tuple((use.index, "here, too") for use in used[1:])
        yield Found(used[0].call, _message(used[0]), related=related, subject=tuple(used))


def _message(use: DeviceIndex) -> str:
    return (
        f"`{written(use.index)}` counts over all machines: on the second one no GPU has that index, and every process "
        'there fails with "invalid device ordinal"; take LOCAL_RANK'
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take LOCAL_RANK where there is one."""
    if not isinstance(found.subject, tuple):
        return None
    changes = [
        edit
        for use in found.subject
        for edit in edits.replace(
            use.index.node, f'int(os.environ.get("LOCAL_RANK", {edits.source_text(use.index.node)}))'
        )
    ]
    return Fix(Applicability.SAFE, "Take LOCAL_RANK where it is set", (*changes, *edits.add_import("import os")))
