"""Work outside functions, done once more by each process that the script spawns

## What it finds

In a script that starts processes anew (`mp.spawn`, `Process` with the start method `spawn` or `forkserver`), outside
all functions and not under `if __name__ == "__main__":`:

- a run of a tracker (`wandb.init`, `SummaryWriter`, `mlflow.start_run`), a download, a command;
- a directory that must not be there, files that are removed or moved;
- a tensor or a model that is moved to the GPU.

It is silent under tests that may tell the parent from its children, and where directories may exist before.

## Why it matters

A spawned process imports the file of its parent, and does all that stands outside functions again: with 8 GPUs there
are 9 runs in the tracker, 9 downloads of one file, and 9 contexts on the first GPU, each of some hundred megabytes. A
directory that the parent has made ends each child with FileExistsError, and what it removes may be in use by then.

## Example

```python bad
import nltk
import torch.distributed as dist
import torch.multiprocessing as mp

nltk.download("punkt")  #~ DDP420


def worker(rank):
    dist.init_process_group("gloo", "tcp://127.0.0.1:29517", rank=rank, world_size=2)


if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
```

```python fixed
import nltk
import torch.distributed as dist
import torch.multiprocessing as mp

if __name__ == "__main__":
    nltk.download("punkt")


def worker(rank):
    dist.init_process_group("gloo", "tcp://127.0.0.1:29517", rank=rank, world_size=2)


if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
```

```python good
import torch.distributed as dist
import torch.multiprocessing as mp
import wandb


def worker(rank):
    if rank == 0:
        wandb.init(project="demo")
    dist.init_process_group("gloo", "tcp://127.0.0.1:29517", rank=rank, world_size=2)


if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
```

## Fix

Safe for a download or a directory that is a statement of its own, in a file that no other file of the project imports:
it goes under `if __name__ == "__main__":`, and the children find it done by their parent. There is none for the rest:
the children may want the tracker or the tensor.

## At run time

Confirmed when the line ran in a child as well. Refuted when it ran in the parent only.

## References

- What a spawned process does: https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods
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
    RepeatedWork,
    Role,
    Rule,
    Script,
    WorkKind,
    is_whole_statement,
    shown,
)

RULE = Rule(
    code="DDP420",
    name="spawn-repeats-module-code",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=("spawn", "start_processes", "elastic_launch", "forkserver"),
    applicability=Applicability.SAFE,
)
IMPACTS = {
    WorkKind.TRACKS: Impact.NOISE,
    WorkKind.FETCHES: Impact.NOISE,
    WorkKind.MAKES: Impact.CRASH,
    WorkKind.CHANGES: Impact.WRONG,
    WorkKind.RUNS: Impact.WRONG,
    WorkKind.USES_GPU: Impact.SLOW,
}
CONSEQUENCES = {
    WorkKind.TRACKS: "each has a run of its own in the tracker",
    WorkKind.FETCHES: "each fetches the same files",
    WorkKind.MAKES: "each fails, since the parent has made the directory",
    WorkKind.CHANGES: "each changes files that the others may be using",
    WorkKind.RUNS: "each runs the same command",
    WorkKind.USES_GPU: "each holds memory on that GPU, beside its own",
}
MOVABLE = frozenset({WorkKind.FETCHES, WorkKind.MAKES})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what every spawned process does once more."""
    if project.role(script) is Role.TEST:
        return
    for work in project.repeated_works.of(script):
        message = (
            f"every process that this file spawns imports it and comes to `{shown(work.call)}` again: "
            f'{CONSEQUENCES[work.kind]}; put it under `if __name__ == "__main__":` or into a function'
        )
        subject = work.call if _can_move(work, script, project) else None
        yield Found(work.call, message, subject=subject, impact=IMPACTS[work.kind])


def _can_move(work: RepeatedWork, script: Script, project: Project) -> bool:
    """Whether the children need no more than what their parent has done, and nobody else imports the file."""
    path = project.scripts.path_of(script)
    is_alone = work.call.region.kind is RegionKind.MODULE and is_whole_statement(work.call)
    return work.kind in MOVABLE and is_alone and (path is None or not project.files.importers(path))


def fix(found: Found, edits: Editor) -> Fix | None:
    """Put the statement under a test of ``__name__``."""
    if not isinstance(found.subject, Call):
        return None
    changes = edits.guard_statement(found.subject.statement.node, 'if __name__ == "__main__":')
    return Fix(Applicability.SAFE, "Put it under a test of `__name__`", changes)
