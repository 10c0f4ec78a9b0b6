"""A port that each process draws for itself, so that no two of them meet

## What it finds

A port that is drawn at random, taken from the clock, or asked of the system (`bind(("", 0))`, a helper such as
`find_free_port()`), in code that every process runs, and given as MASTER_PORT or in the `init_method` of
`init_process_group`: in a function that is spawned, in what it calls, or in a script that a launcher starts.

It is silent where the port is drawn before the processes are started and handed on, where one process tells the others
(a broadcast, a test of the rank), under a seed that is the same everywhere, in forked processes, which go on with the
random numbers of their parent, and where the draw is a way out for a launcher that sets no port.

## Why it matters

The first process listens at one port, and each of the others knocks at another one. They wait until the timeout of the
start, half an hour at most, and fail. With a single process all is well, so that tests on one GPU say nothing.

## Symptoms

- training hangs at init_process_group
- the ranks wait for each other with different ports

## Example

```python bad
import os
import random

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size):
    port = random.randint(20000, 40000)  #~ DDP402
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
```

```python good
import os
import random

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


if __name__ == "__main__":
    mp.spawn(worker, args=(2, random.randint(20000, 40000)), nprocs=2)
```

## Fix

None: draw the port in the parent, before the processes are started, and hand it to each. Under torchrun leave
MASTER_PORT as it is.

## At run time

Confirmed when MASTER_PORT, or the port of the URL, differs between the processes. Refuted when it is the same.
Not exercised in a run with one process.

## References

- Environment variable initialization: https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Found, Impact, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP402",
    name="random-port-per-rank",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("MASTER_PORT", "init_method", "tcp://"),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the draws of ports that each process makes."""
    if project.role(script) is Role.TEST:
        return
    for port in project.drawn_ports.of(script):
        related = () if port.draw.statement is port.given.statement else ((port.given, "the processes meet here"),)
        yield Found(port.draw, _message(shown(port.draw)), related=related)


def _message(draw: str) -> str:
    return (
        f"each process calls `{draw}` for itself and gets another port: they wait for one another in vain; draw "
        "it once before they start, and hand it on"
    )
