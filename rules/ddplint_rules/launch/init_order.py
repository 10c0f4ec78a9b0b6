"""A process group that is used before it is started, or started twice

## What it finds

`get_rank()`, `get_world_size()`, a collective, `new_group`, `DistributedDataParallel` or a `DistributedSampler` that
asks for its rank, in a function (or a file) that starts the process group only afterwards, itself or by a helper. And
`init_process_group` where the group is already there on every way.

A test such as `is_main_process()` before the start, too, if it is made to say yes where there is no group.

It is silent under a test of `is_initialized()` or `is_available()`, where the error is caught, where the start is under
such a test, and, for a second start, where the program destroys groups.

## Why it matters

Each of these ends the process: "Default process group has not been initialized, please make sure to call
init_process_group", or "trying to initialize the default process group twice". A test that
says yes without a group does so in every process: what it guards is done by all of them.

## Symptoms

- ValueError: Default process group has not been initialized, please make sure to call init_process_group
- RuntimeError: Default process group has not been initialized

## Example

```python bad
import torch
import torch.distributed as dist

torch.manual_seed(dist.get_rank())  #~ DDP418
dist.init_process_group("nccl")
```

```python good
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.manual_seed(dist.get_rank())
```

A test that comes too early:

```python bad
import os

import torch.distributed as dist


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


if is_main_process():  #~ DDP418
    os.mkdir("results")
dist.init_process_group("nccl")
```

```python good
import os

import torch.distributed as dist


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


dist.init_process_group("nccl")
if is_main_process():
    os.mkdir("results")
```

A second start:

```python bad
import torch.distributed as dist


def set_up():
    dist.init_process_group("nccl")


def main():
    set_up()
    dist.init_process_group("nccl")  #~ DDP418


main()
```

```python good
import torch.distributed as dist


def set_up():
    dist.init_process_group("nccl")


def main():
    set_up()
    if not dist.is_initialized():
        dist.init_process_group("nccl")


main()
```

## Fix

None: move the start before the first use, or take one of the starts out.

## At run time

Confirmed by one of these errors, or when the test lets several processes through. Refuted when the line is run without
an error, and the test lets one process through.

## References

- Initialization: https://docs.pytorch.org/docs/stable/distributed.html#initialization
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    WRAP,
    Call,
    Finding,
    Found,
    Impact,
    Missing,
    Project,
    RegionKind,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    caught,
    last_name,
    quoted,
    shown,
)

RULE = Rule(
    code="DDP418",
    name="init-order",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("distributed", "DistributedDataParallel"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
)
START = "torch.distributed.init_process_group"
ENDS = frozenset({START, "torch.distributed.destroy_process_group"})
SAMPLER = "torch.utils.data.distributed.DistributedSampler"
ASKING = frozenset(f"torch.distributed.{name}" for name in ("get_rank", "get_world_size"))
# Errors that stand for a group which is not there, or there already.
ERRORS = frozenset({"RuntimeError", "ValueError", "AssertionError", "Exception", "BaseException"})
DEEPEST = 4  # callers that are looked at
TESTS = frozenset({"is_initialized", "is_available", "is_torchelastic_launched"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what uses a group too early, and the starts that come too late."""
    if project.role(script) is Role.TEST:
        return
    for call in script.calls:
        if _needs_group(call, project) and not _is_tried(call, project):
            start = project.processes.later_start(call)
            if start is not None and not _is_tried(start, project):
                yield Found(call, _too_early(call), related=((start, "the group is started here"),))
    for test in project.rank_fallbacks.tests(script):
        start = project.processes.later_start(test)
        if start is not None and not _is_tried(start, project):
            related = ((start, "the group is started here"),)
            yield Found(test, _guards_nothing(test), related=related, impact=Impact.WRONG)
    for start in project.calls(script, START):
        if (
            not _is_tried(start, project)
            and project.certainly(start.callee, START)
            and _is_second(start, script, project)
        ):
            yield Found(start, _too_late())


def _is_tried(call: Call, project: Project, depth: int = 0) -> bool:
    """Whether a call may be made only after a test of the group, or its error is expected, here or by a caller."""
    tests = [region.test for region in call.region.chain() if region.kind is RegionKind.BRANCH and region.test]
    asked = {last_name(part) for test in tests for part in test.walk()}
    if asked & TESTS or caught(call.region) & ERRORS:
        return True
    function = call.scope.function
    calls = project.callers(function)[0] if function is not None and depth < DEEPEST else ()
    return any(_is_tried(caller, project, depth + 1) for caller in calls)


def _needs_group(call: Call, project: Project) -> bool:
    """Whether a call asks the default group, and is given no other one."""
    names = project.names(call.callee)
    if names == {SAMPLER}:
        return all(project.argument(call, name) is Missing.ABSENT for name in ("num_replicas", "rank"))
    if names <= ASKING:
        return not call.arguments
    kind = project.collectives.own(call)
    if kind == WRAP:
        return project.argument(call, "process_group") is Missing.ABSENT
    is_collective = kind is not None and names == {f"torch.distributed.{kind}"} and not names <= ENDS
    return is_collective and project.argument(call, "group") is Missing.ABSENT


def _is_second(start: Call, script: Script, project: Project) -> bool:
    return project.processes.certainly_started(start) and not project.group_ends.may_be_destroyed(script)


def _too_early(call: Call) -> str:
    return (
        f"`{shown(call)}` needs the process group, which is started only afterwards: the process ends with "
        '"Default process group has not been initialized"; start it first'
    )


def _guards_nothing(test: Call) -> str:
    return (
        f"`{shown(test)}` says yes in every process, since the group is started only afterwards: all do what it "
        "guards; start the group first"
    )


def _too_late() -> str:
    return (
        "the process group is there already: the process ends with "
        '"trying to initialize the default process group twice"; take one start out, or ask is_initialized() before'
    )


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for the error at the line."""
    failed = [error for error in trace.failures if error.is_below(finding.lines)]
    if failed:
        return Verdict.confirmed("the line fails", f"{failed[0]['error']}: {quoted(failed[0]['text'])}")
    return Verdict.refuted("the line was run without an error")
