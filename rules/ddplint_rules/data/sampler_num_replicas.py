"""A sampler shares the data out over another number of processes than there are

## What it finds

A `DistributedSampler` whose `num_replicas` is the number of GPUs that one process sees (`torch.cuda.device_count()`),
the number of processes on one machine (LOCAL_WORLD_SIZE), or a constant above 1.

It is silent where the number can be another one, where a constant is the very number of processes that the script
starts or joins, and where the rank is written into the code, too: then one process takes a share by intent. In programs
that may be made for one machine alone the number of GPUs is merely possible.

## Why it matters

`num_replicas` says into how many shares the data is dealt. With two machines of eight GPUs and a sampler for eight, the
ranks from 8 on raise an error, or, with local ranks, both machines train on the same samples. With fewer processes than
shares, the shares of the processes that are not there are never seen. The last two are silent.

## Symptoms

- a part of the data is never seen on several machines

## Example

```python bad
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset, num_replicas=torch.cuda.device_count(), shuffle=True)  #~ DDP204
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

```python fixed
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset, shuffle=True)
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

```python good
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset, num_replicas=dist.get_world_size(), rank=dist.get_rank())
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

## Fix

Safe: the number is left out, and a local rank with it; the sampler then asks the process group for both. It is made
only where the process group is certainly there by then. Where the number was right, nothing changes.

## At run time

Confirmed when `num_replicas` of a sampler differs from the world size. Refuted when they are equal. Not exercised in a
run that simulates one machine with as many processes as GPUs.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
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
)

RULE = Rule(
    code="DDP204",
    name="sampler-num-replicas",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DistributedSampler",),
    discharged_by=frozenset({"horovod"}),
    applicability=Applicability.SAFE,
)
_DISTRIBUTED_SAMPLER = "torch.utils.data.distributed.DistributedSampler"
_START = "torch.distributed.init_process_group"
_COUNTS = {
    RankValue.GPUS: "the number of GPUs that one process sees",
    RankValue.LOCAL_WORLD_SIZE: "the number of processes on one machine",
}


@dataclass(frozen=True, slots=True)
class _Left:
    """The arguments of a sampler that can be left out."""

    sampler: Call
    arguments: tuple[Argument, ...]


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the samplers that share out over a number of processes of their own."""
    if project.role(script) is Role.TEST:
        return
    for sampler in project.calls(script, _DISTRIBUTED_SAMPLER):
        number = project.argument(sampler, "num_replicas")
        if not isinstance(number, Expression):
            continue
        kind = next((kind for kind in _COUNTS if project.rank_values.certainly(number, kind)), None)
        if kind is not None:
            one_machine = project.machines.is_one(script)
            yield _found(sampler, number, _COUNTS[kind], project, Confidence.POSSIBLE if one_machine else None)
        elif _is_written_down(sampler, number, project):
            yield _found(sampler, number, "a number that is written into the code", project, None)


def _found(sampler: Call, number: Expression, what: str, project: Project, confidence: Confidence | None) -> Found:
    return Found(
        number,
        f"the data is dealt into as many shares as {what}, whatever the number of processes: shares overlap or are "
        "never seen; leave `num_replicas` to the sampler, which takes the world size",
        confidence or Confidence.LIKELY,
        related=((sampler, "the sampler"),),
        subject=_left_out(sampler, project),
    )


def _is_written_down(sampler: Call, number: Expression, project: Project) -> bool:
    """Whether a number of shares is a constant that nothing else in the file counts processes with."""
    values = project.constants(number)
    rank = project.argument(sampler, "rank")
    if values is None or len(values) != 1 or not (rank is Missing.ABSENT or _differs(rank, project)):
        return False
    (value,) = values
    script = sampler.scope.script
    counts = [project.argument(call, "nprocs") for call in project.launches(script)]
    counts += [project.argument(call, "world_size") for call in project.calls(script, _START)]
    known = (project.constants(count) for count in counts if isinstance(count, Expression))
    return type(value) is int and value > 1 and all(not count or value not in count for count in known)


def _differs(rank: Expression | Missing, project: Project) -> bool:
    return isinstance(rank, Expression) and project.rank_parts.differs(rank)


def _left_out(sampler: Call, project: Project) -> _Left | None:
    """Return what can be left out: the number, and a rank that goes with it; None where the ranks are not certain."""
    rank = project.argument(sampler, "rank")
    names = ["num_replicas"]
    if isinstance(rank, Expression):
        if not project.processes.certainly_started(sampler):
            return None
        if project.rank_values.certainly(rank, RankValue.LOCAL):
            names.append("rank")
        elif not project.rank_values.certainly(rank, RankValue.GLOBAL):
            return None
    elif rank is Missing.UNKNOWN:
        return None
    values = [project.argument(sampler, name) for name in names]
    arguments = tuple(given for given in sampler.arguments if given.value in values)
    return _Left(sampler, arguments) if len(arguments) == len(names) else None


def fix(found: Found, edits: Editor) -> Fix | None:
    """Leave the number to the sampler."""
    left = found.subject
    if not isinstance(left, _Left):
        return None
    changes = [
        edit
        for argument in left.arguments
        for edit in (
            edits.replace_argument(argument.node, "None")
            if argument.keyword is None
            else edits.remove_argument(left.sampler.node, argument.node)
        )
    ]
    return Fix(Applicability.SAFE, "Let the sampler ask the process group", tuple(changes))
