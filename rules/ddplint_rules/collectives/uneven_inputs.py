"""A share of the data that is longer on some ranks, in a loop in which all ranks meet

## What it finds

A share that each rank takes for itself, and a loop over it that comes to a collective in every round, a training step
of a wrapped model included. Shares are `items[rank::world_size]`, the same by `islice`, the items whose number modulo
the world size is the rank, and `numpy.array_split(items, world_size)[rank]`.

It is silent where anything divides the list, or its length, by the number of ranks, or fills it up; where the slice
has an end; and in `with model.join():`. Where the loop can be left early, or runs over a loader of the share, it is
reported with `--pedantic`. The shares of a DistributedSampler are equally long.

## Why it matters

Five files on two ranks are three and two. In the third round the first rank waits for the second, which has left
the loop: the job hangs until the timeout of the group, or pairs an exchange with another one that comes later. Whether
it happens depends on the number of GPUs and on the files that are there on that day.

## Example

```python bad
import torch.distributed as dist

dist.init_process_group("nccl")


def epoch(model, files):
    for path in files[dist.get_rank() :: dist.get_world_size()]:  #~ DDP504
        count = read(path)
        dist.all_reduce(count)
```

```python good
import torch.distributed as dist

dist.init_process_group("nccl")


def epoch(model, files):
    world_size = dist.get_world_size()
    usable = len(files) - len(files) % world_size
    for path in files[:usable][dist.get_rank() :: world_size]:
        count = read(path)
        dist.all_reduce(count)
```

The ranks that are done first go along with the exchanges of the others:

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def epoch(files, optimizer):
    model = DistributedDataParallel(torch.nn.Linear(8, 2))
    with model.join():
        for path in files[dist.get_rank() :: dist.get_world_size()]:
            optimizer.zero_grad()
            model(torch.load(path)).sum().backward()
            optimizer.step()
```

## Fix

None: to drop what is left over, to repeat some of it, or to let the ranks join is for the author to choose.

## At run time

Confirmed when the ranks run through the loop unequally often. Refuted when they run through it equally often in the
traced run, which says nothing of another number of ranks or of items. Not exercised when the loop was not reached.

## References

- Training with uneven inputs: https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html
- `DistributedDataParallel.join`:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    BACKWARD,
    FORWARD,
    LOOP_DRIVERS,
    Confidence,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP504",
    name="uneven-inputs",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("rank", "RANK"),
    everyday=True,
    discharged_by=LOOP_DRIVERS,
)
MEETINGS = {FORWARD: "the forward of the wrapped model", BACKWARD: "the exchange of gradients"}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the shares that need not be equally long where ranks meet for each item."""
    if project.role(script) is Role.TEST:
        return
    for share in project.uneven_shares.of(script):
        meeting = MEETINGS.get(share.site.kind, f"`{share.site.kind}`")
        message = (
            f"`{written(share.taken)}` is one item longer on some ranks where the length does not divide: they wait "
            f"in {meeting} for ranks that have left the loop; cut or fill the list to a multiple of the world size, "
            "or let the ranks that are done first go along (`join`)"
        )
        related = ((share.site.call, "all ranks meet here in each round"),)
        yield Found(share.taken, message, Confidence.POSSIBLE if share.doubtful else Confidence.LIKELY, related)
