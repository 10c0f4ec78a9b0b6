"""The memory cache emptied, or garbage collected, in every training step

## What it finds

`torch.cuda.empty_cache()` and `gc.collect()` in the loop of training steps, or in a function that it calls, where
every step comes to it, in a program that trains with several processes.

It is silent under a test such as `step % 200 == 0`, after an error (the way out of a full memory), between phases,
once an epoch, in loops without a backward pass, and for `gc.collect` of young generations. In benchmarks and
evaluations, where it may be meant, it is shown with `--pedantic`.

## Why it matters

`empty_cache` waits for the GPU and gives all free blocks back to the driver, and the next step asks for them again, one
slow call each. It frees no tensor and gives PyTorch no more memory. `gc.collect` goes through every object of the
process, tens to hundreds of milliseconds in a large program, while the GPU has nothing to do. The ranks wait for each
other in every step, so that each pays for the slowest.

## Symptoms

- training is slow and the GPUs are used little
- empty_cache in every step

## Example

```python bad
import gc

import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()  #~ DDP702
        gc.collect()  #~ DDP702
```

```python fixed
import gc

import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
```

Between phases, or seldom, it costs next to nothing:

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, epochs):
    model = DistributedDataParallel(model)
    for epoch in range(epochs):
        for step, batch in enumerate(loader):
            model(batch).sum().backward()
            optimizer.step()
            if step % 500 == 0:
                torch.cuda.empty_cache()
        torch.cuda.empty_cache()
        evaluate(model)
```

## Fix

Unsafe: the statement is removed. A run that just fitted into a fragmented memory may not fit without it; then
`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` is what helps.

## At run time

Confirmed when the calls are counted once a step, with the time that they take. Refuted when there are fewer calls than
steps by far.

## References

- `torch.cuda.empty_cache`: https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.empty_cache.html
- Memory management: https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management
- `gc.collect`: https://docs.python.org/3/library/gc.html#gc.collect
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Call,
    Confidence,
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
    removed,
    shown,
)

RULE = Rule(
    code="DDP702",
    name="empty-cache-in-loop",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("empty_cache", "collect"),
    everyday=True,
    applicability=Applicability.UNSAFE,
)
COLLECT = "gc.collect"
EMPTY = (
    "torch.cuda.empty_cache",
    "torch.cuda.memory.empty_cache",
    "torch.accelerator.empty_cache",
    "torch.accelerator.memory.empty_cache",
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the calls that every training step makes."""
    if project.role(script) is Role.TEST:
        return
    for call in project.calls(script, COLLECT, *EMPTY):
        is_young = project.certainly(call.callee, COLLECT) and bool(call.arguments)
        if is_young or not project.certainly(call.callee, COLLECT, *EMPTY):
            continue
        if project.training_steps.loop_of(call) is not None:
            measures = project.role(script) is Role.EVALUATION
            confidence = Confidence.POSSIBLE if measures else Confidence.LIKELY
            yield Found(call, _message(call, project), confidence, subject=call)


def _message(call: Call, project: Project) -> str:
    if project.certainly(call.callee, COLLECT):
        cost = "goes through all objects of the process, while the GPU waits and the other ranks with it"
    else:
        cost = "waits for the GPU and gives its memory back, which the next step has to ask for again"
    return f"`{shown(call)}` in every training step {cost}; remove it, or call it between epochs"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Remove the statement."""
    assert isinstance(found.subject, Call)
    changes = removed(found.subject, edits)
    message = "Keep the memory for the next step; a run that only just fits may need it"
    return Fix(Applicability.UNSAFE, message, changes) if changes else None


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Count the calls at the line against the steps."""
    calls = [event for event in trace.below(finding.lines, Kind.SYNC) if event["what"] == "empty_cache"]
    return done_every_step(calls, trace, "emptied the cache")
