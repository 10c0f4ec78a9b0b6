"""A process group made again and again, and none of them ever destroyed

## What it finds

`torch.distributed.new_group`, `new_subgroups` and `new_subgroups_by_enumeration` in a loop that trains, be it of steps
or of epochs, in a function that such a loop calls, and in the `forward` of a module.

It is silent where a test lets it happen once (`if self.group is None:`), in cached functions, in the loops that set the
groups up before the training, and where the loop or the function destroys groups.

## Why it matters

All processes meet to make a group, even those that are not in it, and each group gets connections and buffers of its
own on every GPU, some hundred megabytes with NCCL. They stay until `destroy_process_group(group)`: each round takes
longer, and memory runs out in the end.

## Symptoms

- training hangs or fails after some hundred steps with new_group
- NCCL error: unhandled system error, memory grows with every group

## Example

```python bad
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def gather(value):
    group = dist.new_group(backend="gloo")  #~ DDP712
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value, group=group)
    return values


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        gather(loss.item())
```

One group serves all rounds:

```python good
import functools

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


@functools.lru_cache
def cpu_group():
    return dist.new_group(backend="gloo")


def gather(value):
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value, group=cpu_group())
    return values


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        gather(loss.item())
```

## Fix

There is none: where the group is to live is for the author to say. Make it once, beside `init_process_group`, and hand
it on, or keep it in a function under `functools.lru_cache`.

## At run time

Confirmed when the number of process groups grows with the rounds. Refuted when it stays the same.

## References

- Groups: https://docs.pytorch.org/docs/stable/distributed.html#groups
- Shutdown: https://docs.pytorch.org/docs/stable/distributed.html#shutdown
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Call,
    Finding,
    Found,
    Function,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    done_every_step,
    last_name,
    shown,
)

RULE = Rule(
    code="DDP712",
    name="group-per-call",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("new_group", "new_subgroups"),
)
MAKERS = (
    "torch.distributed.new_group",
    "torch.distributed.new_subgroups",
    "torch.distributed.new_subgroups_by_enumeration",
)
DESTROY = "torch.distributed.destroy_process_group"
CACHES = frozenset({"lru_cache", "cache", "cached_property", "cached", "memoize", "once"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the groups that are made in every round."""
    if project.role(script) is Role.TEST:
        return
    for call in project.calls(script, *MAKERS):
        if project.certainly(call.callee, *MAKERS) and _is_repeated(call, project) and not _is_kept(call, project):
            yield Found(call, _message(call))


def _is_repeated(call: Call, project: Project) -> bool:
    """Whether training comes to a call again and again."""
    function = call.scope.function
    if function is not None and function.name == "forward" and function.cls is not None:
        return not project.switches.decide(call)
    loop = project.training_steps.repeats(call)
    return loop is not None and not any(
        project.names(inner.callee) & {DESTROY} for inner in project.reach.onward(project.passes.calls_of(loop))
    )


def _is_kept(call: Call, project: Project) -> bool:
    """Whether the function around a call is run once for all, or destroys what it made."""
    function = call.scope.function
    if function is None:
        return False
    destroys = any(project.names(inner.callee) & {DESTROY} for inner in function.script.calls_in(function))
    return destroys or _is_cached(function)


def _is_cached(function: Function) -> bool:
    return any(last_name(decorator) in CACHES for decorator in function.decorators)


def _message(call: Call) -> str:
    return (
        f"`{shown(call.callee)}` makes another process group in every round, for which all processes meet and which "
        "keeps its memory; make it once, before the loop"
    )


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Count the groups that were made at the line against the steps."""
    return done_every_step(trace.below(finding.lines, Kind.SUBGROUP), trace, "made a process group")
