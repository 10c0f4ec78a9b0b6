"""Processes that are started outside `if __name__ == "__main__":`, and so are started again by each of them

## What it finds

`torch.multiprocessing.spawn`, `start_processes` and `elastic_launch`, and `Process` where the start method is set to
`spawn` or `forkserver`, which the file comes to whenever it is imported: outside all functions, or in a function that
is called there.

It is silent under a test of `__name__`, and under tests that may tell the parent from its children: of the
environment, of the current process, of the rank. Where processes are forked nothing is run again.

## Why it matters

A process that is spawned starts with an empty Python, and imports the file of its parent. There it comes to the same
call, and Python ends it: "An attempt has been made to start a new process before the current process has finished its
bootstrapping phase". No process ever trains.

## Symptoms

- RuntimeError: An attempt has been made to start a new process before the current process has finished its
  bootstrapping phase

## Example

```python bad
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, world_size):
    dist.init_process_group("gloo", "tcp://127.0.0.1:29512", rank=rank, world_size=world_size)
    dist.barrier()


mp.spawn(train, args=(2,), nprocs=2)  #~ DDP408
```

```python fixed
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, world_size):
    dist.init_process_group("gloo", "tcp://127.0.0.1:29512", rank=rank, world_size=world_size)
    dist.barrier()


if __name__ == "__main__":
    mp.spawn(train, args=(2,), nprocs=2)
```

```python good
import torch.multiprocessing as mp


def train(rank):
    print("process", rank)


def main():
    mp.spawn(train, nprocs=2)


if __name__ == "__main__":
    main()
```

## Fix

Safe: the statement goes under `if __name__ == "__main__":`. A run that came to it ended with the error, unless another
file imported this one: where a file of the project does, there is no fix. There is none either for a statement whose
value is used, that stands in a block, or that other calls come after.

## At run time

Confirmed by the error of the bootstrapping phase in a child. Refuted when the processes start.

## References

- Safe importing of the main module: https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods
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
    Project,
    RegionKind,
    Rule,
    Script,
    is_whole_statement,
    shown,
)

RULE = Rule(
    code="DDP408",
    name="spawn-without-main-guard",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("spawn", "start_processes", "elastic_launch", "forkserver"),
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the calls that start processes anew, each once."""
    starts = {id(start.call): start for start in project.fresh_starts.repeated(script)}
    for start in starts.values():
        related = () if start.call is start.outside else ((start.outside, "this line is not under the test"),)
        fixable = start.outside if _can_move(start.outside, script, project) else None
        yield Found(start.call, _message(start.call), related=related, subject=fixable)


def _can_move(call: Call, script: Script, project: Project) -> bool:
    """Whether a call is the last thing that the file does, by itself, and no other file of the project runs it."""
    path = project.scripts.path_of(script)
    return (
        call.region.kind is RegionKind.MODULE
        and is_whole_statement(call)
        and not any(other.order > call.order for other in script.calls_in(None))
        and (path is None or not project.files.importers(path))
    )


def _message(call: Call) -> str:
    return (
        f"each process that `{shown(call)}` starts imports this file and comes to this call again, which ends it with "
        '"An attempt has been made to start a new process"; start them under `if __name__ == "__main__":`'
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Put the statement under a test of ``__name__``."""
    if not isinstance(found.subject, Call):
        return None
    changes = edits.guard_statement(found.subject.statement.node, 'if __name__ == "__main__":')
    return Fix(Applicability.SAFE, "Put it under a test of `__name__`", changes)
