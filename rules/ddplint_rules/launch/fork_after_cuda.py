"""Processes that are forked when CUDA has been started, and use it

## What it finds

`Process`, `Pool` or `start_processes` with the start method `fork`, the default on Linux before Python 3.14, where
CUDA has certainly been started before (`.cuda()`, `.to("cuda")`, `torch.cuda.set_device` and the like) in the same
function or where it is called, and the function that the processes run uses CUDA.

It is silent for `mp.spawn`, for the start methods `spawn` and `forkserver`, and where the children compute on the CPU.
`is_available()` and `device_count()` alone do not count.

## Why it matters

A forked process has the state of CUDA of its parent, and none of its threads: "Cannot re-initialize CUDA in forked
subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method".

## Example

```python bad
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, model):
    dist.init_process_group("nccl", "tcp://127.0.0.1:29521", rank=rank, world_size=2)
    model.to(f"cuda:{rank}")


def main():
    model = torch.nn.Linear(8, 2).cuda()
    context = mp.get_context("fork")
    for rank in range(2):
        context.Process(target=worker, args=(rank, model)).start()  #~ DDP409
```

```python fixed
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, model):
    dist.init_process_group("nccl", "tcp://127.0.0.1:29521", rank=rank, world_size=2)
    model.to(f"cuda:{rank}")


def main():
    model = torch.nn.Linear(8, 2).cuda()
    context = mp.get_context("spawn")
    for rank in range(2):
        context.Process(target=worker, args=(rank, model)).start()
```

```python good
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank):
    dist.init_process_group("nccl", "tcp://127.0.0.1:29521", rank=rank, world_size=2)
    torch.nn.Linear(8, 2).to(f"cuda:{rank}")


def main():
    print(torch.cuda.device_count())
    mp.spawn(worker, nprocs=2)
```

## Fix

Unsafe, where the start method is written out: `spawn` in the place of `fork`. What the processes are given has to be
picklable then, and the file is run once more by each. There is none where fork is the default.

## At run time

Confirmed by the error in a child. Refuted when the children use the GPU. Not exercised without GPUs.

## References

- CUDA in multiprocessing: https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing
- Start methods: https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Constant,
    Editor,
    Fix,
    Found,
    Impact,
    LateFork,
    Project,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP409",
    name="fork-after-cuda",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("Process", "Pool", "start_processes"),
    everyday=True,
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the processes that are forked too late."""
    if project.role(script) is Role.TEST:
        return
    for fork in project.late_forks.of(script):
        yield _found(fork)


def _found(fork: LateFork) -> Found:
    how = "are forked" if fork.method is not None else "are forked, as is the default on Linux before Python 3.14,"
    message = (
        f"the processes of `{shown(fork.start)}` {how} after `{shown(fork.parent)}` has started CUDA, and can't use "
        'it: "Cannot re-initialize CUDA in forked subprocess"; start them with `spawn`, or before CUDA is used'
    )
    related = ((fork.parent, "this starts CUDA in the parent"), (fork.child, "this uses it in the child"))
    return Found(fork.start, message, related=related, subject=fork.method)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Start the processes anew."""
    if not isinstance(found.subject, Constant):
        return None
    return Fix(Applicability.UNSAFE, "Start the processes anew", edits.replace(found.subject.node, '"spawn"'))
