"""The time of a forward or backward pass, taken before the GPU has done it

## What it finds

The difference of two looks at the clock in one block (`time.time()`, `time.perf_counter()` and the like), between which
a model runs or a backward pass, and nothing waits for the GPU. It is likely in programs that use a GPU, and shown with
`--pedantic` where nothing in sight says so.

It is silent where a `synchronize()`, an `.item()`, a `print` or anything else between may wait, for times around a
loop, for the time of a whole round that is taken at the end of the round before, for runs on the CPU (`gloo`), and in
tests.

## Why it matters

A call of the model hands its work to the GPU and returns. What is measured is how long Python needs for the launches,
and the work is counted where the next line happens to wait. Seen on an H200 with torch 2.11: the forward pass of twenty
large layers "took" 1.1 ms, and was done after 108 ms. Decisions about what is slow are then made on wrong numbers.

## Example

```python bad
import time

import torch
from torch.nn.parallel import DistributedDataParallel


def measure(net, inputs, rank):
    model = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    start = time.perf_counter()
    loss = model(inputs).sum()
    forward = time.perf_counter() - start  #~ DDP710
    return loss, forward
```

```python good
import time

import torch
from torch.nn.parallel import DistributedDataParallel


def measure(net, inputs, rank):
    model = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    torch.cuda.synchronize()
    start = time.perf_counter()
    loss = model(inputs).sum()
    torch.cuda.synchronize()
    forward = time.perf_counter() - start
    return loss, forward
```

## Fix

None: to wait in every step costs time itself (DDP707). Events of `torch.cuda.Event(enable_timing=True)` measure without
waiting, and are read later.

## At run time

Confirmed when the time with a wait is longer than that without by far. Refuted when both are alike, or on the CPU.

## References

- "Asynchronous execution": https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
- `torch.cuda.Event`: https://docs.pytorch.org/docs/stable/generated/torch.cuda.Event.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Confidence, Constant, Found, Impact, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP710",
    name="timing-without-sync",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("time", "perf_counter", "timeit"),
    everyday=True,
)
START = "torch.distributed.init_process_group"
GPU = (b"cuda", b"nccl")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the times that are taken too early."""
    if project.role(script) is Role.TEST or _is_for_cpu(script, project):
        return
    on_gpu = project.mentions(script, GPU)
    for early in project.timings.early(script):
        message = (
            f"the clock is read before the GPU has done `{shown(early.work)}`: only the launches are measured; call "
            "torch.cuda.synchronize() before both looks at the clock, or measure with torch.cuda.Event"
        )
        confidence = Confidence.LIKELY if on_gpu else Confidence.POSSIBLE
        related = ((early.start, "the first look"), (early.work, "handed to the GPU here"))
        yield Found(early.end, message, confidence, related=related)


def _is_for_cpu(script: Script, project: Project) -> bool:
    backends = [project.argument(start, "backend") for start in project.calls(script, START)]
    return any(isinstance(backend, Constant) and backend.value == "gloo" for backend in backends)
