"""A variable of the launcher that a script can't do without, although it also runs as a single process

## What it finds

`os.environ["RANK"]`, `os.environ["LOCAL_RANK"]`, `WORLD_SIZE` and `LOCAL_WORLD_SIZE`, and `int(os.environ.get(...))`
without a default, which every start of the script comes to, in a program that starts its process group only where an
option says so, or where such a variable is set.

It is silent where the group is always started (such a script is for `torchrun` alone), under a test, in a `try` block
that catches the error, in processes that are spawned, and where the program sets the variable itself. Where only the
number of processes decides whether there is a group, `torchrun --nproc-per-node=1` may be the way to run a single one:
that is merely possible (`--pedantic`).

## Why it matters

`python train.py`, for one GPU or in a debugger, ends with `KeyError: 'LOCAL_RANK'` before it has done anything, or
with "int() argument must be a string ... not 'NoneType'", though the script has a branch for that run.

## Symptoms

- KeyError: 'RANK'
- KeyError: 'LOCAL_RANK'
- ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but
  not set

## Example

```python bad
import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--distributed", action="store_true")
args = parser.parse_args()
local_rank = int(os.environ["LOCAL_RANK"])  #~ DDP417
torch.cuda.set_device(local_rank)
if args.distributed:
    dist.init_process_group("nccl")
```

```python fixed
import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--distributed", action="store_true")
args = parser.parse_args()
local_rank = int(os.environ.get("LOCAL_RANK", "0"))
torch.cuda.set_device(local_rank)
if args.distributed:
    dist.init_process_group("nccl")
```

```python good
import os

import torch.distributed as dist

if "RANK" in os.environ:
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
else:
    local_rank = 0
```

## Fix

Safe: the read gets the default of a single process, "0" for a rank and "1" for a number of processes. Wherever the
variable is set nothing changes. There is none inside an f-string, which can't hold more quotes before Python 3.12.

## At run time

Confirmed when the script, started by itself, ends with that error. Refuted when it goes on. Not exercised in a run that
a launcher started.

## References

- What torchrun sets: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LAUNCHER_VARIABLES,
    LOOP_DRIVERS,
    Applicability,
    Call,
    Confidence,
    Editor,
    EnvironmentRead,
    Fix,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    SingleRun,
    Subscript,
)

RULE = Rule(
    code="DDP417",
    name="env-rank-required",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("RANK", "WORLD_SIZE"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the reads that a plain start ends at."""
    if project.role(script) is Role.TEST:
        return
    reads = [read for read in project.environment_reads(script) if read.variable in LAUNCHER_VARIABLES]
    needed = [read for read in reads if _fails(read, script, project) and project.plain_starts.comes_to(read.at)]
    single = project.plain_starts.single_run(script) if needed else SingleRun.NOT_OFFERED
    if single is SingleRun.NOT_OFFERED:
        return
    for read in sorted(needed, key=lambda read: read.at.order):
        if not _is_set(read.variable, script, project):
            confidence = Confidence.LIKELY if single is SingleRun.OFFERED else Confidence.POSSIBLE
            yield Found(read.at, _message(read), confidence, subject=read)


def _fails(read: EnvironmentRead, script: Script, project: Project) -> bool:
    """Whether a read ends the run where the variable is not set: by KeyError, or since None is no number."""
    if read.must_exist:
        return isinstance(read.at, Subscript)
    around = project.uses(script).parent(read.at)
    return read.default is None and isinstance(around, Call) and project.certainly(around.callee, "builtins.int")


def _is_set(variable: str, script: Script, project: Project) -> bool:
    """Whether the program gives a variable its value by itself."""
    for path in project.program_of(script):
        if variable.encode() in project.files.content(path):
            other = project.script(path)
            if other is not None and project.environment_writes(other, variable):
                return True
    return False


def _default(variable: str) -> str:
    return '"0"' if variable.endswith("RANK") else '"1"'


def _message(read: EnvironmentRead) -> str:
    error = "KeyError" if read.must_exist else "TypeError"
    return (
        f"only a launcher sets {read.variable}: started by itself, the script ends here with {error} before its run "
        f"with a single process; give it the default {_default(read.variable)}"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Give the read the value that a single process has."""
    read = found.subject
    if not isinstance(read, EnvironmentRead):
        return None
    default = _default(read.variable)
    if isinstance(read.at, Subscript):
        base, key = edits.source_text(read.at.base.node), edits.source_text(read.at.index.node)
        changes = edits.replace(read.at.node, f"{base}.get({key}, {default})")
    else:
        changes = edits.insert_argument(read.at.node, default)
    return Fix(Applicability.SAFE, f"Take {default} where {read.variable} is not set", changes)
