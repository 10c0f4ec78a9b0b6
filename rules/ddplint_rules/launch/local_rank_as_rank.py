"""The rank on the machine taken for the rank in the whole job, so that two machines have the same ranks

## What it finds

LOCAL_RANK, `args.local_rank` or the index of a spawned process, given as `rank` to `init_process_group`, or as the
start of `items[local_rank::world_size]`, while the number of processes is that of the whole job: WORLD_SIZE,
`get_world_size()`, a number of machines times the processes of each, or left out. Samplers are left to DDP205.

It is silent where a number may also be something else, and where the number of processes is that of the machine. In a
program for one machine it is merely possible (`--pedantic`): its processes meet at `localhost`, are spawned by a parent
that knows of no other machine, or the file says to start it with `--standalone` or `--nnodes=1`.

## Why it matters

On one machine both ranks are the same, and everything works. With a second machine, ranks come twice and others never:
the process group waits until its timeout for those that are missing, or fails. Where items are taken by rank, both
machines take the same, and nobody takes the others.

## Symptoms

- training hangs at init_process_group on several machines

## Example

```python bad
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
world_size = int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl", rank=local_rank, world_size=world_size)  #~ DDP419
```

```python fixed
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
world_size = int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl", rank=int(os.environ.get("RANK", local_rank)), world_size=world_size)
```

```python good
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
```

## Fix

Safe: RANK, which the launchers set beside LOCAL_RANK, else the number that was there. On one machine they are the same.
There is none for programs that spawn their processes: `machine * processes_per_machine + index` is the rank there.

## At run time

Confirmed when a rank comes twice, also on a second machine that is only simulated. Refuted when each comes once there.
Not exercised in a run that simulates one machine.

## References

- RANK and LOCAL_RANK: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
- `init_process_group`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Project,
    RankPurpose,
    RankUse,
    RankValue,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP419",
    name="local-rank-as-rank",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("init_process_group", "local_rank", "LOCAL_RANK"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod", "ray"},
    applicability=Applicability.SAFE,
)
COSTS = {
    RankPurpose.GROUP: "a second machine brings the same ranks again, and the group waits for the missing ones",
    RankPurpose.SLICE: "two machines take the same items, and nobody takes the others",
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the local ranks that are given where the rank in the job is meant."""
    if project.role(script) is Role.TEST:
        return
    for use in project.rank_uses.of(script):
        if project.rank_values.certainly(use.rank, RankValue.LOCAL) and _counts_all(use, project):
            is_one = project.machines.is_one(script) and not project.machines.are_several(script)
            confidence = Confidence.POSSIBLE if is_one else Confidence.LIKELY
            subject = None if _is_spawned(use, project) else use.rank
            yield Found(use.rank, _message(use), confidence, subject=subject)


def _counts_all(use: RankUse, project: Project) -> bool:
    """Whether the processes that a rank is one of are those of all machines."""
    if use.world_size is None:
        return True
    return RankValue.WORLD_SIZE in project.rank_values.kinds(use.world_size) or project.machines.counts(use.world_size)


def _is_spawned(use: RankUse, project: Project) -> bool:
    function = use.rank.scope.function
    return bool(project.launches(use.rank.scope.script)) or bool(function and project.spawners(function))


def _message(use: RankUse) -> str:
    return (
        f"`{written(use.rank)}` counts the processes of one machine: {COSTS[use.purpose]}; take RANK, the rank in the "
        "whole job"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take RANK where it is set."""
    if not isinstance(found.subject, Expression):
        return None
    node = found.subject.node
    changes = edits.replace(node, f'int(os.environ.get("RANK", {edits.source_text(node)}))')
    return Fix(Applicability.SAFE, "Take RANK where it is set", (*changes, *edits.add_import("import os")))
