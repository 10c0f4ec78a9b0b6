"""A profiler that records every step of a whole training

## What it finds

`torch.profiler.profile(...)` without a `schedule`, and `torch.autograd.profiler.profile(...)`, as a context around a
loop of training steps, or around a call of a function with one.

It is silent with a `schedule`, under a test or an option, for loops that end early (`break`, `islice`, a number of
rounds that is written down), around a single step, and in tests.

## Why it matters

The profiler keeps every operation in the memory of the process until it ends: with torch 2.13 a step of one small layer
makes 56 events, 50 steps make 2,800. A real step makes tens of thousands, on every rank. Each operation takes longer,
the memory of the host fills up, and writing the trace can take longer than the training. With a schedule of three
steps the same run makes 171 events.

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    with torch.profiler.profile(profile_memory=True) as profiler:  #~ DDP706
        for inputs in loader:
            model(inputs).sum().backward()
            optimizer.step()
    profiler.export_chrome_trace("trace.json")
```

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    few = torch.profiler.schedule(wait=5, warmup=2, active=3, repeat=1)
    with torch.profiler.profile(schedule=few) as profiler:
        for inputs in loader:
            model(inputs).sum().backward()
            optimizer.step()
            profiler.step()
```

## Fix

None: a schedule needs a call of `step()` in the loop, and which steps are of interest only the author knows.

## At run time

Confirmed when the number of recorded events grows with each step. Refuted when recording ends after some steps.

## References

- `torch.profiler.schedule`: https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.schedule
- "Profiling": https://docs.pytorch.org/tutorials/recipes/recipes/profiler_recipe.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Call,
    Constant,
    ExitKind,
    Found,
    Function,
    Impact,
    Loop,
    Missing,
    Project,
    Region,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP706",
    name="unbounded-profiler",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("profile",),
    everyday=True,
)
PROFILER = "torch.profiler.profile"
OLD_PROFILER = "torch.autograd.profiler.profile"
FEW = frozenset({"itertools.islice"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report profilers that stand around whole loops of training steps."""
    if project.role(script) is Role.TEST:
        return
    for call in project.calls(script, PROFILER, OLD_PROFILER):
        if not _is_always_on(call, project):
            continue
        loop = next(filter(None, (_loop_in(region, project) for region in _around(call, script))), None)
        if loop is not None:
            message = (
                f"`{shown(call)}` records every training step in the memory of each process until it ends; give it a "
                "`schedule` of a few steps and call its `step()` in the loop"
            )
            here = loop.statement.region.scope.script is script
            yield Found(call, message, related=((loop, "every step of this loop"),) if here else ())


def _is_always_on(call: Call, project: Project) -> bool:
    if not project.certainly(call.callee, PROFILER, OLD_PROFILER):
        return False
    enabled = project.argument(call, "enabled")
    first = call.arguments[0] if call.arguments else None
    if project.certainly(call.callee, OLD_PROFILER) and first is not None and first.keyword is None:
        enabled = first.value
    on = enabled is Missing.ABSENT or (isinstance(enabled, Constant) and enabled.value is True)
    bounded = project.argument(call, "schedule") is not Missing.ABSENT
    return on and not bounded and not any(map(project.switches.is_one, call.region.chain()))


def _around(call: Call, script: Script) -> list[Region]:
    """Return the regions of which a profiler is a context."""
    regions = {id(inner.region): inner.region for inner in script.calls}
    around = {id(outer): outer for region in regions.values() for outer in region.chain()}
    return [region for region in around.values() if any(context is call for context in region.contexts)]


def _loop_in(region: Region, project: Project) -> Loop | None:
    """Return a loop of training steps that runs to its end in a region, itself or in a function that it calls."""
    script = region.scope.script
    for loop in script.loops:
        if loop.statement.region.within(region) and _is_long(loop, project):
            return loop
    for call in script.calls_in(region.scope.function):
        function = project.resolver.function_of(call) if call.region.within(region) else None
        inside = () if function is None else _loops_of(function)
        found = next((loop for loop in inside if _is_long(loop, project)), None)
        if found is not None:
            return found
    return None


def _loops_of(function: Function) -> Iterator[Loop]:
    return (loop for loop in function.script.loops if loop.statement.region.scope is function.scope)


def _is_long(loop: Loop, project: Project) -> bool:
    """Whether a loop makes a training step in each round, for as long as there is data."""
    script = loop.statement.region.scope.script
    if not project.training_steps.training_in(loop):
        return False
    leaves = (leave for leave in script.exits if leave.kind in (ExitKind.BREAK, ExitKind.RETURN))
    if any(loop in leave.region.loops for leave in leaves):
        return False
    over = loop.iterable
    if isinstance(over, Call) and project.names(over.callee) & (FEW | {"builtins.range"}):
        return not any(isinstance(argument.value, Constant) for argument in over.arguments)
    return over is not None
