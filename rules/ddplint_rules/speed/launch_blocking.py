"""CUDA_LAUNCH_BLOCKING set in the code: Python waits for every kernel, and nothing overlaps with the exchange

## What it finds

`os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`, also by `update`, `setdefault` or `putenv`, in a program that trains with
several processes, where every run comes to it.

It is silent where the value is "0", where a test or an option decides (`if args.debug:`), for the environment of a
child alone, and in tests. A `setdefault`, which the user can overrule, is shown with `--pedantic`.

## Why it matters

CUDA then runs every kernel to its end before Python goes on. DDP is fast because it exchanges the gradients of one
layer while the backward pass works on the next; with blocking launches all of it happens one after the other. The
setting helps to find the line of an error, and the error is long gone.

## Symptoms

- training is slow and the GPUs are used little
- CUDA_LAUNCH_BLOCKING is set

## Example

```python bad
import os

import torch
from torch.nn.parallel import DistributedDataParallel

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  #~ DDP701

torch.distributed.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda())
```

```python fixed
import os

import torch
from torch.nn.parallel import DistributedDataParallel


torch.distributed.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda())
```

Behind an option it costs only the runs that want it:

```python good
import argparse
import os

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
args = parser.parse_args()
if args.debug:
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
torch.distributed.init_process_group("nccl")
```

## Fix

Safe: the statement is removed. Work on a stream is done in the order in which it was launched, and torch waits where
a value is needed, so that the results stay the same. That holds for one stream: the fix is unsafe where the program
speaks of streams, `non_blocking` copies, asynchronous collectives or kernels of its own, which may only have worked
because every launch waited. There is none where other code reads the variable, and none for `update`.

## At run time

Confirmed when the variable is set in a process that uses a GPU; the time of a step with and without it says what it
costs. Not exercised on the CPU.

## References

- Asynchronous execution: https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
- CUDA environment variables: https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Confidence,
    Editor,
    Finding,
    Fix,
    FixedSetting,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    WriteForm,
    removed,
    set_in_environment,
)

RULE = Rule(
    code="DDP701",
    name="launch-blocking",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("CUDA_LAUNCH_BLOCKING",),
    everyday=True,
    applicability=Applicability.SAFE,
)
VARIABLE = "CUDA_LAUNCH_BLOCKING"
# What may give other results when launches no longer wait.
UNORDERED = (b"Stream(", b"non_blocking", b"async_op", b"cpp_extension", b"triton", b"cupy", b"numba", b"record_stream")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report where the variable is set in every run."""
    if project.role(script) is Role.TEST:
        return
    for setting in project.fixed_settings.of(script, VARIABLE):
        if setting.value == "1":
            confidence = Confidence.POSSIBLE if setting.is_default else Confidence.LIKELY
            yield Found(setting.write.at, _message(), confidence, subject=(project, setting))


def _message() -> str:
    return (
        "CUDA_LAUNCH_BLOCKING makes Python wait for every kernel, and no exchange of gradients overlaps with the "
        "backward pass; remove it, or set it in the shell when you look for an error"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Remove the statement."""
    assert isinstance(found.subject, tuple)
    project, setting = found.subject
    assert isinstance(project, Project)
    assert isinstance(setting, FixedSetting)
    script = setting.write.at.region.scope.script
    is_read = sum(content.count(VARIABLE.encode()) for content in project.contents(script)) > 1
    changes = () if is_read or setting.write.form is WriteForm.UPDATE else removed(setting.write.at, edits)
    is_ordered = not project.mentions(script, UNORDERED)
    promise = Applicability.SAFE if is_ordered else Applicability.UNSAFE
    return Fix(promise, "Let the kernels run while Python goes on", changes) if changes else None


def verdict(_finding: Finding, trace: Trace) -> Verdict:
    """Look for the variable where the process group was made."""
    return set_in_environment(("CUDA_LAUNCH_BLOCKING",), trace)
