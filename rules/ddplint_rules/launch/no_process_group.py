"""DistributedDataParallel, a sampler or a collective in a program that makes no process group

## What it finds

`DistributedDataParallel(...)`, `DistributedSampler(...)` without `num_replicas` and `rank`, collectives, `get_rank` and
`get_world_size`, to which a start of the script surely comes, where no file of the program makes a process group.

It is silent under tests, such as `if args.distributed:`, in functions that nobody in sight calls, and where the program
imports a package that may make the group.

## Why it matters

The call ends with "Default process group has not been initialized, please make sure to call init_process_group". A
launcher does not make the group: torchrun only sets the variables from which the script can make it.

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def main():
    model = DistributedDataParallel(torch.nn.Linear(8, 2))  #~ DDP411
    print(model)


if __name__ == "__main__":
    main()
```

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(8, 2))
    print(model)


if __name__ == "__main__":
    main()
```

## Fix

None: which backend, and who tells the processes where to meet, is for the author to say. Under torchrun
`torch.distributed.init_process_group("nccl")`, before the first of these calls, is enough.

## At run time

Confirmed by the error. Refuted when there is a group by then. Not exercised when the line was not reached.

## References

- `init_process_group`:
  https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ddplint.rulekit import LOOP_DRIVERS, Found, Impact, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP411",
    name="no-process-group",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("torch.distributed", "DistributedDataParallel", "DistributedSampler"),
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the first call that needs a group in a program without one."""
    if project.role(script) is Role.TEST:
        return
    for call in islice(project.group_needs.of(script), 1):
        yield Found(
            call,
            f"`{shown(call)}` needs a process group, and no file of this program makes one: it ends with "
            '"Default process group has not been initialized"; call `torch.distributed.init_process_group` before',
        )
