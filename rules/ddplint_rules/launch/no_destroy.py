"""A process group that a script starts and never destroys

## What it finds

`init_process_group` in a script that is started itself, also in a function that is called or spawned there, when no
file of the program calls `destroy_process_group`, but for blocks that handle an error.

It is silent in files that only others run, for the backends gloo and mpi, and where a framework ends the group. Most
public programs never end their group, and their runs are a success all the same: the finding is shown with
`--pedantic` only.

## Why it matters

Since torch 2.4 NCCL warns at the end: "destroy_process_group() was not called before program exit, which can leak
resources". Work that is still going on is cut off, and the processes that wait for it may end with an error of their
own, in a run that was a success.

## Symptoms

- destroy_process_group() was not called before program exit, which can leak resources
- process group has NOT been destroyed before we destruct ProcessGroupNCCL

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("nccl")  #~ DDP412
    torch.cuda.set_device(dist.get_node_local_rank())
    model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda())
    model(torch.randn(4, 8).cuda()).sum().backward()


if __name__ == "__main__":
    main()
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_node_local_rank())
    model = DistributedDataParallel(torch.nn.Linear(8, 2).cuda())
    model(torch.randn(4, 8).cuda()).sum().backward()


if __name__ == "__main__":
    main()
    if dist.is_initialized():
        dist.destroy_process_group()
```

```python good
import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    try:
        dist.barrier()
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
```

## Fix

Safe: the group is destroyed after the function that starts it has returned, when the models wrapped there are gone.
There is none where that call is not the last thing the script does, where models may live on in global names, where the
backend may not be NCCL, and where processes are spawned, each of which has to destroy its own group.

## At run time

Confirmed by the warning at the end of a process. Refuted when none appears. Not exercised without NCCL.

## References

- Shutdown: https://docs.pytorch.org/docs/stable/distributed.html#shutdown
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Attribute,
    Call,
    Confidence,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Name,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    is_whole_statement,
    ranks_named,
)

RULE = Rule(
    code="DDP412",
    name="no-destroy",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=("init_process_group",),
    discharged_by=LOOP_DRIVERS | {"deepspeed", "horovod", "ray"},
    applicability=Applicability.SAFE,
    torch=(2, 4),
    pedantic=True,
)
START = "torch.distributed.init_process_group"
WRAP = "torch.nn.parallel.DistributedDataParallel"
QUIET = frozenset[object]({"gloo", "mpi", "fake"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the first start of a group in a script that never ends it."""
    if project.role(script) is Role.TEST:
        return
    for start in project.calls(script, START):
        entries = list(project.group_ends.entries(start))
        backends = _backends(start, project)
        if not entries or (backends and backends <= QUIET):
            continue
        if not project.group_ends.may_be_destroyed(script):
            subject = (start, entries[0]) if _can_end(start, entries, script, project) else None
            yield Found(start, _message(), Confidence.POSSIBLE, subject=subject)
        return


def _backends(start: Call, project: Project) -> frozenset[object]:
    """Return the backends that a group can have, as far as is known: a default of torch counts as NCCL."""
    backend = project.argument(start, "backend")
    if not isinstance(backend, Expression):
        return frozenset({"nccl"})
    option = project.options.of(backend)
    given = backend if option is None or option.default is None else option.default
    return project.constants(given) or frozenset()


def _can_end(start: Call, entries: list[Call], script: Script, project: Project) -> bool:
    """Whether the last thing that a script does is to call the function that starts the group and holds the models."""
    last = entries[0]
    backend = project.argument(start, "backend")
    return (
        isinstance(backend, Expression)
        and project.constants(backend) == frozenset[object]({"nccl"})
        and len(entries) == 1
        and last is not start
        and is_whole_statement(last)
        and isinstance(last.callee, Name)
        and isinstance(start.callee, Attribute)
        and not any(call.order > last.order for call in script.calls_in(None))
        and not any(project.launches(other) for other in _scripts(script, project))
        and not any(function.scope.outer_names for function in script.functions)
        and all(call.scope.function is not None for call in project.calls(script, WRAP))
        and _is_of_file(start.callee.base, script)
    )


def _scripts(script: Script, project: Project) -> Iterator[Script]:
    for path in project.program_of(script):
        other = project.script(path)
        if other is not None:
            yield other


def _is_of_file(base: Expression, script: Script) -> bool:
    """Whether a module is known by a name that the whole file can use."""
    names = [part for part in base.walk() if isinstance(part, Name)]
    return (
        len(names) == 1
        and all(binding.imported for binding in script.scope.bindings.get(names[0].id, ()))
        and (names[0].id in script.scope.bindings)
    )


def _message() -> str:
    return (
        "nothing destroys this process group: NCCL warns at the end of each process that resources may leak, and cuts "
        "off what goes on; call destroy_process_group() when all is done"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Destroy the group after the last call of the script."""
    if not isinstance(found.subject, tuple):
        return None
    start, last = found.subject
    module = edits.source_text(start.callee.base.node)
    lines = [f"if {module}.is_initialized():", f"    {module}.destroy_process_group()"]
    changes = edits.insert_statements_after(last.statement.node, lines)
    return Fix(Applicability.SAFE, "Destroy the group when all is done", changes)


def verdict(_finding: Finding, trace: Trace) -> Verdict:
    """Look for ranks that ended by themselves with their process group."""
    ended = {process.rank for process in trace.processes if any(process.of(Kind.EXIT)) and process.rank is not None}
    if any(trace.of(Kind.STOP)) or not ended:
        return Verdict.not_exercised("no rank came to the end of the script by itself")
    destroyed = {event.rank for event in trace.of(Kind.GROUP_END)}
    left = sorted(ended - destroyed)
    if left:
        return Verdict.confirmed(f"{ranks_named(left, trace)} ended with the process group")
    return Verdict.refuted(f"{ranks_named(ended, trace)} destroyed the process group")
