"""A path that each rank draws for itself, from the clock or by chance: the run is spread over several folders

## What it finds

Folders and files that every process of a distributed run makes or writes, under a path that is made from the time, to
the second or finer, or from a random identifier (`uuid4`, `token_hex`), where every process takes the time or draws the
identifier, too.

It is silent where only some ranks use the path or draw its part; where a collective has handed the path, or a part of
it, to the others; where it holds the rank, the device or the host as well, as files of one rank do; and where the time
is written without its seconds.

## Why it matters

The ranks start a moment apart. A random identifier differs always, the time now and then: the checkpoints of a run lie
in one folder, its logs in another, a third is empty, and what one rank has saved the others look for in vain.

## Symptoms

- a checkpoint is not found because each rank has another path
- a run makes several folders, seconds apart

## Example

```python bad
import os
from datetime import datetime

import torch.distributed as dist


def main(args):
    dist.init_process_group("nccl")
    run = datetime.now().strftime("%Y%m%d-%H%M%S")  #~ DDP610
    folder = os.path.join(args.output, run)
    os.makedirs(folder, exist_ok=True)
    train(args, folder)
```

One rank draws, all use it:

```python good
import os
from datetime import datetime

import torch.distributed as dist


def main(args):
    dist.init_process_group("nccl")
    run = [datetime.now().strftime("%Y%m%d-%H%M%S")]
    dist.broadcast_object_list(run, src=0)
    folder = os.path.join(args.output, run[0])
    os.makedirs(folder, exist_ok=True)
    train(args, folder)
```

## Fix

None: draw it on one rank and hand it to the others with `broadcast_object_list`, or give it to all from outside, as an
option or as torchrun's `TORCHELASTIC_RUN_ID`.

## At run time

Confirmed when the ranks used different paths at this place. Refuted when all used the same one; one run in which the
ranks read the same second proves little. Not exercised when the line was not reached, or the run had one process.

## References

- broadcast_object_list: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list
- `TORCHELASTIC_RUN_ID`: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Finding,
    Found,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    RunPath,
    Script,
    Trace,
    Verdict,
    ranks_named,
    written,
)

RULE = Rule(
    code="DDP610",
    name="path-differs-per-rank",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("mkdir", "makedirs", "save", "open", "FileHandler"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what each rank draws for a path that all of them use."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    for found in project.run_paths.of(script):
        yield _found(found, script)


def _found(found: RunPath, script: Script) -> Found:
    drawn, use, path = found.drawn, found.use, written(found.path)
    message = (
        f"every rank takes `{written(drawn)}` for itself, and `{path}` is made from it: the ranks write to different "
        "paths; draw it on one rank and broadcast it"
    )
    if drawn.scope.script is script:
        return Found(drawn, message, related=((use, "all ranks use the path here"),))
    return Found(use, message, related=((drawn, "each rank draws it here"),))


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the paths that the ranks used from the line."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    used: dict[int, str] = {}
    for event in trace.below(finding.lines, Kind.SAVE, Kind.LOAD, Kind.WRITE, Kind.TRACKER):
        if event.rank is not None and event["path"] is not None:
            used.setdefault(event.rank, str(event["path"]))
    if len(used) < 2:
        return Verdict.not_exercised("fewer than two ranks used a path from this line that the run could see")
    evidence = [f"rank {rank}: {path}" for rank, path in sorted(used.items())]
    if len(set(used.values())) > 1:
        return Verdict.confirmed(f"{ranks_named(used, trace)} used different paths", *evidence)
    return Verdict.not_exercised("the ranks happened to use one path", *evidence)
