"""A loop that runs unequally often on the ranks, though they meet in each round

## What it finds

A loop with a collective, or a training step of a wrapped model, that all ranks come to in each round:

- `for ... in range(...)` where the rank decides on the count: `range(rank)`, `range(rank, count, world_size)`;
- `for ... in range(...)` and `while ...:` where what each rank computes from its own batch decides: a loss, the length
  of its longest sample.

It is silent where the decision has gone through a collective, where anything makes the count divisible, for two loops
that make up for each other (`range(rank)` and `range(world_size - rank)`), and in `with model.join():`. Where
something else may end the loop, it is reported with `--pedantic`. A loop over `items[rank::world_size]` is DDP504.

## Why it matters

A collective ends when every rank has called it. The rank with more rounds waits in the last ones for ranks that have
gone on, until the timeout, or its call is paired with a later one of theirs and the numbers are mixed up.

## Example

```python bad
import torch.distributed as dist

dist.init_process_group("nccl")


def evaluate(model, count):
    for index in range(dist.get_rank(), count, dist.get_world_size()):  #~ DDP507
        result = model(index)
        dist.all_reduce(result)
```

```python good
import torch.distributed as dist

dist.init_process_group("nccl")


def evaluate(model, count):
    rounds = count // dist.get_world_size()
    for index in range(rounds):
        result = model(index * dist.get_world_size() + dist.get_rank())
        dist.all_reduce(result)
```

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")


def fit(batch, optimizer):
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    loss = model(batch).mean()
    while loss > 0.1:  #~ DDP507
        loss.backward()
        optimizer.step()
        loss = model(batch).mean()
```

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")


def fit(batch, optimizer):
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    worst = torch.ones(1)
    while worst > 0.1:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        worst = loss.detach().clone()
        dist.all_reduce(worst, op=dist.ReduceOp.MAX)
```

## Fix

None: the ranks have to agree on the number of rounds, by `all_reduce` with `MAX` or `MIN`, or by a count that is the
same on all of them.

## At run time

Confirmed when the ranks come to the collective unequally often. Refuted when they come equally often in the traced
run. Not exercised when the loop was not reached.

## References

- "all processes in the group must call it": https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
- Training with uneven inputs: https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    BACKWARD,
    FORWARD,
    LOOP_DRIVERS,
    Confidence,
    Divergence,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    UnevenLoop,
    written,
)

RULE = Rule(
    code="DDP507",
    name="rank-dependent-loop",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("range", "while"),
    everyday=True,
    discharged_by=LOOP_DRIVERS,
)
MEETINGS = {FORWARD: "the forward of the wrapped model", BACKWARD: "the exchange of gradients"}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the loops that run unequally often where ranks meet in each round."""
    if project.role(script) is Role.TEST:
        return
    for uneven in project.uneven_loops.of(script):
        yield _found(uneven)


def _found(uneven: UnevenLoop) -> Found:
    meeting = MEETINGS.get(uneven.site.kind, f"`{uneven.site.kind}`")
    decision = f"`{written(uneven.decision)}`"
    why = f"{decision} is another number on each rank"
    if uneven.reason is not Divergence.RANK:
        why = f"each rank decides by its own data, in {decision}, when it ends"
    message = (
        f"this loop runs unequally often, since {why}: ranks with more rounds wait in {meeting} for the others; "
        "let the ranks agree on the number of rounds"
    )
    confidence = Confidence.POSSIBLE if uneven.doubtful else Confidence.LIKELY
    return Found(uneven.decision, message, confidence, ((uneven.site.call, "all ranks meet here in each round"),))
