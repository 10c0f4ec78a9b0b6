"""A number over all ranks that is not the mean it is taken for

## What it finds

- A running sum that is summed over the ranks in place (`all_reduce(total)`), in a loop that goes on adding to it. The
  sum may be kept by an object, with a method that adds and one that reduces.
- The mean of what one rank has, averaged over the ranks, where the ranks need not have equally much: a share
  `items[rank::world_size]`. Where the count depends on the data, such as the entries of a mask, it is reported with
  `--pedantic`.

It is silent where the sum is set anew in the loop, where a test chooses the rounds in which it is reduced, and where
the count is reduced as well.

## Why it matters

What a reduction has put into the sum is the sum of all ranks, on all ranks. The next one adds these up once more:
with two ranks early batches count 2, 4, 8 times. A mean of means gives the same weight to a rank with three samples as
to one with three hundred. Both look like a metric, and models are chosen by them.

## Example

```python bad
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def validate(model, batches):
    total = torch.zeros(2, device="cuda")
    for batch in batches:
        total += model(batch)
        dist.all_reduce(total)  #~ DDP513
    return total[0] / total[1]
```

```python good
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def validate(model, batches):
    total = torch.zeros(2, device="cuda")
    for batch in batches:
        total += model(batch)
    dist.all_reduce(total)
    return total[0] / total[1]
```

```python bad
import torch.distributed as dist

dist.init_process_group("nccl")


def accuracy(model, samples):
    mine = samples[dist.get_rank() :: dist.get_world_size()]
    hits = sum(model(one) for one in mine)
    mean = hits / len(mine)
    dist.all_reduce(mean)  #~ DDP513
    return mean / dist.get_world_size()
```

```python good
import torch.distributed as dist

dist.init_process_group("nccl")


def accuracy(model, samples):
    mine = samples[dist.get_rank() :: dist.get_world_size()]
    hits = sum(model(one) for one in mine)
    dist.all_reduce(hits)
    return hits / len(samples)
```

## Fix

None: the reduction goes behind the loop, or is made of a copy; a mean needs the sum and the count of all ranks.

## At run time

Confirmed when a tensor is reduced whose values contain those of an earlier reduction of it, or when the ranks have
divided by different counts. Refuted when they have not. Not exercised when the line was not reached.

## References

- `all_reduce`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Confidence,
    Found,
    Impact,
    MeanOfMeans,
    Project,
    RepeatedSum,
    Role,
    Rule,
    Script,
    shown,
    written,
)

RULE = Rule(
    code="DDP513",
    name="average-of-averages",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("all_reduce",),
    discharged_by=LOOP_DRIVERS,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the sums that are reduced again in each round, and the means of means."""
    if project.role(script) is Role.TEST:
        return
    told: set[int] = set()
    for repeated in project.averages.repeated(script):
        if id(repeated.call) not in told:
            told.add(id(repeated.call))
            yield _of_sum(repeated)
    yield from map(_of_means, project.averages.of_means(script))


def _of_sum(repeated: RepeatedSum) -> Found:
    message = (
        f"`{shown(repeated.call)}` sums `{written(repeated.reduced)}` over the ranks in every round, though it "
        "holds the sum of all ranks from the last one already: earlier batches count several times; "
        "reduce once, after the loop"
    )
    return Found(repeated.call, message)


def _of_means(mean: MeanOfMeans) -> Found:
    message = (
        f"each rank has divided by its own `{written(mean.count)}`, and the ranks need not have equally much: the mean "
        "of their means is not the mean; all_reduce the sum and the count, then divide"
    )
    confidence = Confidence.POSSIBLE if mean.doubtful else Confidence.LIKELY
    return Found(mean.call, message, confidence, ((mean.count, "what this rank has"),))
