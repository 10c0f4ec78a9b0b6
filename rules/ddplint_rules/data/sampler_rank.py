"""A sampler takes its share by the rank on the machine, while the data is dealt over all machines

## What it finds

A `DistributedSampler` whose `rank` is the number of the process on its own machine: LOCAL_RANK, `args.local_rank`, the
rank modulo the number of GPUs, the index that `spawn` hands over; while it deals the data over the world size.

It is silent where the number may be another one, and where `num_replicas` counts one machine as well (that is DDP204).
In programs that may be made for one machine alone, where both ranks agree, it is merely possible.

## Why it matters

On one machine all is well. On two machines of eight GPUs the data is dealt into 16 shares, and both machines take the
first eight: half of the data is never trained on, the other half twice in every epoch. No warning tells of it.

## Symptoms

- a part of the data is never seen on several machines
- two machines train on the same samples

## Example

```python bad
import os

import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    sampler = DistributedSampler(dataset, rank=local_rank)  #~ DDP205
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

```python fixed
import os

import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    sampler = DistributedSampler(dataset)
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

```python good
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    sampler = DistributedSampler(dataset, rank=dist.get_rank())
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

## Fix

Safe: the rank is left out; the sampler then asks the process group. It is made only where the process group is
certainly there by then. On one machine nothing changes.

## At run time

Confirmed when the rank of a sampler differs from the process's rank in the group, also on a second machine that is only
simulated. Refuted when they are equal there. Not exercised in a run that simulates one machine.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
- LOCAL_RANK and RANK: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    Argument,
    Call,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Missing,
    Project,
    RankValue,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP205",
    name="sampler-rank",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DistributedSampler",),
    discharged_by=frozenset({"horovod"}),
    applicability=Applicability.SAFE,
)
_DISTRIBUTED_SAMPLER = "torch.utils.data.distributed.DistributedSampler"


@dataclass(frozen=True, slots=True)
class _Given:
    """The rank that a sampler is given and can do without."""

    sampler: Call
    argument: Argument


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the samplers that take their share by the local rank."""
    if project.role(script) is Role.TEST:
        return
    for sampler in project.calls(script, _DISTRIBUTED_SAMPLER):
        rank = project.argument(sampler, "rank")
        if not isinstance(rank, Expression) or not project.rank_values.certainly(rank, RankValue.LOCAL):
            continue
        number = _number(sampler, project)
        over_all = _is_over_all(number, project)
        if over_all is not False:
            certain = over_all and not project.machines.is_one(script)
            yield Found(
                rank,
                f"`{written(rank)}` is the rank on one machine, while the data is dealt over all: every machine takes "
                "the same shares and the others are never seen; leave `rank` to the sampler",
                Confidence.LIKELY if certain else Confidence.POSSIBLE,
                related=((sampler, "the sampler"),),
                subject=_given(sampler, rank, number, project),
            )


def _number(sampler: Call, project: Project) -> Expression | Missing:
    """Return the number of shares that a sampler is given; None stands for the world size, as if it were left out."""
    number = project.argument(sampler, "num_replicas")
    left_out = isinstance(number, Expression) and project.constants(number) == frozenset({None})
    return Missing.ABSENT if left_out else number


def _is_over_all(number: Expression | Missing, project: Project) -> bool | None:
    """Whether the data is dealt over all processes, None where that is not known."""
    if number is Missing.ABSENT:
        return True
    if not isinstance(number, Expression):
        return None
    if project.rank_values.certainly(number, RankValue.WORLD_SIZE):
        return True
    return None if project.rank_values.kinds(number) <= {None, RankValue.WORLD_SIZE} else False


def _given(sampler: Call, rank: Expression, number: Expression | Missing, project: Project) -> _Given | None:
    if number is not Missing.ABSENT and not project.processes.certainly_started(sampler):
        return None
    argument = next((given for given in sampler.arguments if given.value is rank), None)
    return None if argument is None else _Given(sampler, argument)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Leave the rank to the sampler."""
    given = found.subject
    if not isinstance(given, _Given):
        return None
    if given.argument.keyword is None:
        changes = edits.replace_argument(given.argument.node, "None")
    else:
        changes = edits.remove_argument(given.sampler.node, given.argument.node)
    return Fix(Applicability.SAFE, "Let the sampler ask the process group", changes)
