"""A question about the rank that is not called: the function itself counts as true on every rank

## What it finds

Functions that say which rank a process is, whether it is the first one, or whether there is a process group, in a test
that reads them and does not call them: `if is_main_process:`, `not dist.is_initialized`, `dist.get_rank == 0`. They may
come from torch, or be functions and methods of the project that return such a thing.

It is silent for properties, for variables that hold the answer, and where a name can also be something else, such as
None.

## Why it matters

A function is neither empty nor zero: `if is_main_process:` lets all ranks in, and all of them write the same checkpoint
and print the same lines. `if dist.get_rank == 0:` lets nobody in, and nothing is saved at all. Nothing fails.

## Symptoms

- code for rank 0 runs on every rank

## Example

```python bad
import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def main(model):
    dist.init_process_group("nccl")
    train(model)
    if is_main_process:  #~ DDP514
        print("done")
    if dist.get_rank == 0:  #~ DDP514
        torch.save(model.state_dict(), "model.pt")
```

```python fixed
import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def main(model):
    dist.init_process_group("nccl")
    train(model)
    if is_main_process():
        print("done")
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "model.pt")
```

A property, and a variable that holds the answer, are read without parentheses:

```python good
import torch.distributed as dist


class Trainer:
    @property
    def is_master(self):
        return dist.get_rank() == 0

    def run(self):
        is_first = dist.get_rank() == 0
        if self.is_master and is_first:
            print("done")
```

## Fix

Unsafe: the missing parentheses are added. Runs in which every rank passed the test go another way then; if there is a
collective behind it, or if what all ranks made is needed by all, the guard was wrong in another way, too.

## At run time

Confirmed when the test came out the same on ranks for which the function gives different answers. Refuted when it came
out as the answer. Not exercised when the line was not reached.

## References

- What counts as true: https://docs.python.org/3/library/stdtypes.html#truth-value-testing
- `get_rank`, `is_initialized`: https://docs.pytorch.org/docs/stable/distributed.html#post-initialization
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP514",
    name="guard-not-called",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=(
        "rank",
        "main",
        "master",
        "primary",
        "chief",
        "leader",
        "root",
        "zero",
        "is_initialized",
        "is_available",
        "world_size",
        "get_backend",
    ),
    everyday=True,
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the functions that a test reads in the place of their answers."""
    if project.role(script) is Role.VENDORED:
        return
    for found in project.uncalled_guards.of(script):
        name = written(found.at)
        what = "equals no number" if found.compared else "counts as true"
        message = (
            f"`{name}` is a function that is not called: it {what} on every rank, so that the test tells none of them "
            f"apart; call it: `{name}()`"
        )
        yield Found(found.at, message, Confidence.CERTAIN, subject=found.answers)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Call the function."""
    if found.subject is not True or not isinstance(found.at, Expression):
        return None
    return Fix(Applicability.UNSAFE, f"call `{written(found.at)}()`", edits.insert_after(found.at.node, "()"))
