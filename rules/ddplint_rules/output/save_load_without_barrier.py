"""A file that all ranks read while one rank may still be writing it, or that one rank removes while others read it

## What it finds

In one function and the helpers that it calls: a file that is written under a test of the rank and read by all ranks
afterwards, and a file that all ranks read and that is removed or moved away under a test of the rank afterwards, with
no collective between. Both calls have to spell the same path.

It is silent where a barrier or any other collective stands between, in a function that is called there, too; where a
forward or a backward pass of a wrapped model does; and where the path differs between the ranks. Where something stands
between that can't be read and may wait, it is reported with `--pedantic`.

## Why it matters

The other ranks pass the test at once and open a file that is not there yet, or half of it: FileNotFoundError, an
unexpected end of the file, or, worse, the checkpoint of an earlier epoch that still lay there. On a fast disk it works
nearly always, on a shared one under load it fails.

## Symptoms

- FileNotFoundError: No such file or directory for a checkpoint that was just saved
- EOFError: Ran out of input when a checkpoint is loaded

## Example

```python bad
import torch
import torch.distributed as dist


def keep_best(model, rank):
    dist.init_process_group("nccl")
    train(model)
    if rank == 0:
        torch.save(model.state_dict(), "best.pt")
    model.load_state_dict(torch.load("best.pt", map_location="cpu"))  #~ DDP608
```

```python good
import torch
import torch.distributed as dist


def keep_best(model, rank):
    dist.init_process_group("nccl")
    train(model)
    if rank == 0:
        torch.save(model.state_dict(), "best.pt")
    dist.barrier()
    model.load_state_dict(torch.load("best.pt", map_location="cpu"))
```

Before a file is removed, all ranks have read it:

```python bad
import os

import torch
import torch.distributed as dist


def restore(model, path, rank):
    dist.init_process_group("nccl")
    model.load_state_dict(torch.load(path, map_location="cpu"))
    if rank == 0:
        os.remove(path)  #~ DDP608
```

## Fix

None: put a barrier between the two, outside of the test of the rank. It has to be reached by all ranks, and whether
they all come to this place only the author can say.

## At run time

Confirmed when a rank opened the file before it was closed by the one that wrote it, or after it was removed. Refuted
when an exchange put the two in order. Not exercised when the line was not reached, or the run had one process; a plain
run is mostly clean, so that the read has to be delayed, or the write.

## References

- "Save and Load Checkpoints", with its barrier: https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html
- barrier: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Confidence,
    Found,
    Handover,
    HandoverKind,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    written,
)

RULE = Rule(
    code="DDP608",
    name="save-load-without-barrier",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("load", "open", "read_csv"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what is read or removed too early."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    told: set[int] = set()
    for handover in project.handovers.of(script):
        if id(handover.at) not in told:
            told.add(id(handover.at))
            yield _found(handover)


def _found(handover: Handover) -> Found:
    path = written(handover.path)
    if handover.kind is HandoverKind.READ:
        message = (
            f"every rank reads `{path}` while the one that writes it may not be done: no file, half of one or an "
            "old one; put a barrier between"
        )
        note = "one rank writes it here"
    else:
        message = (
            f"one rank removes `{path}` while the others may still be reading it, and they fail; put a barrier before "
            "the test of the rank"
        )
        note = "all ranks read it here"
    confidence = Confidence.POSSIBLE if handover.doubtful else Confidence.LIKELY
    return Found(handover.at, message, confidence, related=((handover.other, note),))
