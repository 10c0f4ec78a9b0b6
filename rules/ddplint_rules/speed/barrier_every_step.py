"""A barrier, or a wait for the GPU, in every training step

## What it finds

`torch.distributed.barrier()`, `monitored_barrier()` and `torch.cuda.synchronize()` in the loop of training steps, or in
a function that it calls, where every step comes to it, in a program that trains with several processes.

It is silent under a test such as `step % 100 == 0`, once an epoch, in loops without a backward pass, and for a barrier
with `async_op=True`. Where the wait may be meant, it is shown with `--pedantic`: in benchmarks and evaluations, and a
`synchronize` where the function takes the time or sends to other ranks. So is a `synchronize` after which Python waits
anyway: the same step then comes to a `.item()`, `.cpu()` or `.tolist()`.

## Why it matters

The ranks meet in every backward pass anyway, in the exchange of the gradients, and need no other place to meet. A
barrier makes all of them wait for the slowest, with an empty queue of work on every GPU. `synchronize` stops Python
until the GPU is done: the launches of the next step, which could have been prepared meanwhile, come too late.

## Symptoms

- training is slow on several GPUs
- the GPUs are used in bursts

## Example

```python bad
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for inputs, targets in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        dist.barrier()  #~ DDP707
        optimizer.step()
        torch.cuda.synchronize()  #~ DDP707
```

```python fixed
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for inputs, targets in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
```

Seldom, or between epochs, it costs next to nothing:

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, epochs):
    model = DistributedDataParallel(model)
    for epoch in range(epochs):
        for step, batch in enumerate(loader):
            model(batch).sum().backward()
            optimizer.step()
            if step % 100 == 0:
                torch.cuda.synchronize()
        dist.barrier()
```

## Fix

Unsafe: the statement is removed. Ranks that share more than gradients, such as files, or that time their steps, may
have needed it.

## At run time

Confirmed when the waits are counted once a step, with the time that they take. Refuted when there are fewer waits than
steps by far.

## References

- `torch.distributed.barrier`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier
- `torch.cuda.synchronize`: https://docs.pytorch.org/docs/stable/generated/torch.cuda.synchronize.html
- Asynchronous execution: https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Call,
    Confidence,
    Constant,
    Editor,
    Finding,
    Fix,
    Found,
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
    removed,
    shown,
)

RULE = Rule(
    code="DDP707",
    name="barrier-every-step",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("barrier", "synchronize"),
    everyday=True,
    applicability=Applicability.UNSAFE,
)
BARRIERS = ("torch.distributed.barrier", "torch.distributed.monitored_barrier")
WAITS = ("torch.cuda.synchronize", "torch.accelerator.synchronize")
CLOCKS = frozenset(
    {"time.time", "time.perf_counter", "time.monotonic", "time.process_time", "time.time_ns", "time.perf_counter_ns"}
    | {"timeit.default_timer", "torch.cuda.Event", "datetime.datetime.now"}
)
# Exchanges between two ranks, after which a wait for the GPU can be needed.
SENDS = frozenset({"torch.distributed.batch_isend_irecv", "torch.distributed.isend", "torch.distributed.irecv"})
# Methods that hand a number of the GPU to Python, which waits for it.
READS = frozenset({"item", "cpu", "numpy", "tolist"})
# Names of objects and methods that take the time.
TIMERS = re.compile(
    r"(?:^|_)(?:tic|toc|timers?|stopwatch|elapsed(?:_time)?)(?:_|$)|(?:time|perf)_?meter", re.IGNORECASE
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the waits that every training step comes to."""
    if project.role(script) is Role.TEST:
        return
    for call in project.calls(script, *BARRIERS, *WAITS):
        if _waits(call, project) and project.training_steps.loop_of(call) is not None:
            confidence = Confidence.POSSIBLE if _may_be_meant(call, project) else Confidence.LIKELY
            yield Found(call, _message(call, project), confidence, subject=call)


def _waits(call: Call, project: Project) -> bool:
    later = any(
        given.keyword == "async_op" and not (isinstance(given.value, Constant) and given.value.value is False)
        for given in call.arguments
    )
    return not later and project.certainly(call.callee, *BARRIERS, *WAITS)


def _may_be_meant(call: Call, project: Project) -> bool:
    """Whether a program measures what it does, or the function around a wait for the GPU has a reason or no cost."""
    script = call.scope.script
    if project.role(script) is Role.EVALUATION:
        return True
    if project.certainly(call.callee, *BARRIERS):
        return False
    beside = script.calls_in(call.scope.function)
    reasons = CLOCKS | SENDS
    return any(project.names(other.callee) & reasons or _names_timer(other) or _reads(other, call) for other in beside)


def _reads(other: Call, wait: Call) -> bool:
    """Whether a later call in the same block, or one around it, waits for the GPU as well."""
    return (
        other.order > wait.order
        and last_name(other.callee) in READS
        and not other.arguments
        and other.region in wait.region.chain()
    )


def _names_timer(call: Call) -> bool:
    return any(bool(TIMERS.search(last_name(part))) for part in call.callee.walk())


def _message(call: Call, project: Project) -> str:
    if project.certainly(call.callee, *BARRIERS):
        cost = "makes all ranks wait for the slowest once more, though they meet in the backward pass"
    else:
        cost = "stops Python until the GPU is done, which then waits for the next launches"
    return f"`{shown(call)}` in every training step {cost}; remove it, or wait only where the time is taken"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Remove the statement."""
    assert isinstance(found.subject, Call)
    changes = removed(found.subject, edits)
    message = "Let the ranks go on; what else they share in a step may need the wait"
    return Fix(Applicability.UNSAFE, message, changes) if changes else None


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Count the waits at the line against the steps."""
    events = trace.below(finding.lines, Kind.COLLECTIVE, Kind.SYNC)
    waits = [event for event in events if event["op"] == "barrier" or event["what"] == "synchronize"]
    return done_every_step(waits, trace, "waited")
