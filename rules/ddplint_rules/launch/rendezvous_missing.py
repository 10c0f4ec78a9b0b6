"""Processes that a script starts itself, and does not tell where to meet

## What it finds

`init_process_group` without an address (or with `env://`) in a function that `mp.spawn`, or a `Process`, runs, where
no file of the program mentions MASTER_ADDR or MASTER_PORT, or RANK and WORLD_SIZE where the call is not given them.

It is silent where a store, an address or `**` arguments are given, and in scripts that start no processes: there
torchrun sets the variables.

## Why it matters

Each process ends at once: "environment variable MASTER_ADDR expected, but not set". It works only in a terminal, or on
a cluster, where somebody has set the variables by hand.

## Example

```python bad
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)  #~ DDP416


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
```

```python fixed
import torch.distributed as dist
import torch.multiprocessing as mp
import os


def worker(rank, world_size):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
```

```python good
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size)


if __name__ == "__main__":
    mp.spawn(worker, args=(2, 29501), nprocs=2)
```

## Fix

Safe for the place: `os.environ.setdefault` before the call keeps what the environment says, and a run without the
variables ended there. There is none for RANK and WORLD_SIZE.

## At run time

Confirmed by the error of `init_process_group`. Refuted when the group is made.

## References

- Environment variable initialization: https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization
- `spawn`: https://docs.pytorch.org/docs/stable/multiprocessing.html#spawning-subprocesses
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Call,
    Editor,
    Fix,
    Found,
    Impact,
    MissingPlace,
    Project,
    Role,
    Rule,
    Script,
    is_whole_statement,
    shown,
)

RULE = Rule(
    code="DDP416",
    name="rendezvous-missing",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("init_process_group",),
    applicability=Applicability.SAFE,
)
DEFAULTS = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the groups of spawned processes that have no place to meet."""
    if project.role(script) is Role.TEST:
        return
    for missing in project.meeting_places.missing(script):
        yield _found(missing)


def _found(missing: MissingPlace) -> Found:
    names = " and ".join(missing.variables)
    message = (
        f"nobody sets {names} for the processes that `{shown(missing.spawner)}` starts: each ends here with "
        '"environment variable expected, but not set"; set them before, or give an address and the rank'
    )
    related = ((missing.spawner, "the processes are started here"),)
    return Found(missing.start, message, related=related, subject=missing.variables)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Set the place where the processes meet, unless it is set already."""
    call, variables = found.at, found.subject
    if not isinstance(call, Call) or not isinstance(variables, tuple) or not set(variables) <= DEFAULTS.keys():
        return None
    if not is_whole_statement(call):
        return None
    lines = [f'os.environ.setdefault("{name}", "{DEFAULTS[name]}")' for name in variables]
    changes = (*edits.add_import("import os"), *edits.insert_statements_before(call.statement.node, lines))
    return Fix(Applicability.SAFE, "Set the place where the processes meet", changes)
