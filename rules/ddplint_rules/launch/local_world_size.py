"""The GPUs of one machine taken for the number of processes in a job of several machines

## What it finds

`torch.cuda.device_count()`, also through names, as the `world_size` of `init_process_group`, or put into the variable
WORLD_SIZE, in a program that is made for several machines: it takes their number, which of them this is, or the address
of the first (`--nnodes`, `--node_rank`, `--master_addr`, SLURM_NNODES and the like), or it gives the group the rank in
the whole job (RANK, or machine times GPUs plus index).

It is silent where the number may also be another one, as a product with the number of machines is, under a test that
asks for the machines, and in a program whose processes meet at `localhost`. Where nothing speaks of machines it is
merely possible (`--pedantic`): a launcher may still start the script on two, or fewer processes than there are GPUs.

## Why it matters

With two machines of eight GPUs, the group is told to have 8 members. The ranks from 8 on are refused, or each machine
forms a group of its own: then two models are trained, each on all that its machine reads, and no error is seen.

## Symptoms

- training hangs or fails on a second machine
- each machine trains a model of its own

## Example

```python bad
import argparse

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, args):
    rank = args.node_rank * torch.cuda.device_count() + gpu
    dist.init_process_group(
        "nccl",
        init_method=args.url,
        rank=rank,
        world_size=torch.cuda.device_count(),  #~ DDP413
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nnodes", type=int, default=1)
    parser.add_argument("--node_rank", type=int, default=0)
    parser.add_argument("--url")
    mp.spawn(worker, args=(parser.parse_args(),), nprocs=torch.cuda.device_count())
```

```python good
import argparse

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, args):
    gpus = torch.cuda.device_count()
    rank = args.node_rank * gpus + gpu
    dist.init_process_group("nccl", init_method=args.url, rank=rank, world_size=args.nnodes * gpus)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nnodes", type=int, default=1)
    parser.add_argument("--node_rank", type=int, default=0)
    parser.add_argument("--url")
    mp.spawn(worker, args=(parser.parse_args(),), nprocs=torch.cuda.device_count())
```

## Fix

None: write WORLD_SIZE where a launcher sets it, else the number of machines times that of the processes of each.

## At run time

Confirmed when the group has fewer members than there are processes, also on a second machine that is only simulated.
Refuted when it has as many there. Not exercised in a run that simulates one machine.

## References

- WORLD_SIZE and LOCAL_WORLD_SIZE: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
- `init_process_group`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Confidence,
    Expression,
    Found,
    Impact,
    Project,
    RankValue,
    Role,
    Rule,
    Script,
    WriteForm,
    written,
)

RULE = Rule(
    code="DDP413",
    name="local-world-size",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("init_process_group", "WORLD_SIZE"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod", "ray"},
)
START = "torch.distributed.init_process_group"


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the numbers of GPUs that are given as the number of all processes."""
    if project.role(script) is Role.TEST:
        return
    for size, rank in _sizes(script, project):
        if not project.rank_values.certainly(size, RankValue.GPUS) or project.machines.are_asked_for(size):
            continue
        is_meant = project.machines.are_several(script) or (
            rank is not None and project.rank_values.certainly(rank, RankValue.GLOBAL)
        )
        if not project.machines.is_one(script):
            yield Found(size, _message(size), Confidence.LIKELY if is_meant else Confidence.POSSIBLE)


def _sizes(script: Script, project: Project) -> Iterator[tuple[Expression, Expression | None]]:
    """Yield what is given as the number of all processes, with the rank that is given beside it."""
    for call in project.calls(script, START):
        size, rank = project.argument(call, "world_size"), project.argument(call, "rank")
        if isinstance(size, Expression):
            yield size, rank if isinstance(rank, Expression) else None
    for write in project.environment_writes(script, "WORLD_SIZE"):
        if write.form not in (WriteForm.DEFAULT, WriteForm.CHILD):
            yield write.value, None


def _message(size: Expression) -> str:
    return (
        f"`{written(size)}` counts the GPUs of one machine: with a second one, ranks are refused, or each trains a "
        "model of its own; take WORLD_SIZE, or multiply by the number of machines"
    )
