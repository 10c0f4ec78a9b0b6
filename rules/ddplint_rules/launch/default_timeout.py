"""Long work of one rank, while the others wait no longer than the default timeout

## What it finds

Work over a whole dataset that one rank does while the others wait in a collective: a `map` over a dataset, or a
function of the project that tokenizes, preprocesses or builds a vocabulary in a loop. One rank goes first between two
barriers, in a `with` block that does so, or under a test of the rank before the next collective. The program leaves
the timeout of its process group as it is.

It is silent where `init_process_group` is given a timeout, and where other groups are made, which may have one.
Work in a loop is taken for that of one batch. Evaluation on one rank, and `load_dataset`, are reported with
`--pedantic`: they may take seconds or hours.

## Why it matters

The collective waits 10 minutes with NCCL, 30 with gloo, then it ends the job. On a sample everything works. On the
whole corpus the first rank is in the middle of its work when the others give up, and nothing that it did is kept.

## Example

```python bad
import torch.distributed as dist


def main(dataset, encode):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        dataset.map(encode, batched=True, num_proc=8)  #~ DDP414
    dist.barrier()
```

```python good
import datetime

import torch.distributed as dist


def main(dataset, encode):
    dist.init_process_group("nccl", timeout=datetime.timedelta(hours=6))
    if dist.get_rank() == 0:
        dataset.map(encode, batched=True, num_proc=8)
    dist.barrier()
```

## Fix

None: how long the longest wait may be is for the author to say. Work that needs no process group can be done before
the group is made, or by a script of its own.

## At run time

Confirmed when the wait of another rank, or what is foreseen for the whole data, passes the timeout of the group.
Refuted when the work was done long before. Not exercised when it was not reached, or found its result in a cache.

## References

- `timeout`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import LOOP_DRIVERS, Confidence, Found, Impact, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP414",
    name="default-timeout",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=(
        "map",
        "load_dataset",
        "token",
        "process",
        "featur",
        "vocab",
        "corpus",
        "prepare",
        "eval",
        "valid",
        "test",
    ),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the long work for which the other ranks wait."""
    if project.role(script) is Role.TEST:
        return
    for found in project.long_waits.of(script):
        message = (
            f"one rank runs `{shown(found.work)}` while the others wait in `{shown(found.wait)}`, which ends the job "
            "after 10 minutes with NCCL and 30 with gloo; give `init_process_group` a longer `timeout`, or do this "
            "before the group is made"
        )
        related = ((found.wait, "the others wait here"), (found.start, "the group has the default timeout"))
        yield Found(found.at, message, Confidence.POSSIBLE if found.doubtful else Confidence.LIKELY, related)
