"""A handler that passes over a failed training step, on the rank that failed

## What it finds

`except` around a training step of a wrapped model, in a loop that goes on behind the handler: one that prints, frees
memory or does nothing, or that raises some errors only, such as all but "out of memory".

It is silent where the handler ends the loop or the process, where it comes to a collective itself, and for errors that
come to all ranks or to none, such as `KeyboardInterrupt`. A handler that leaves the round by `continue` is DDP502.
Where the ranks exchange something else in the loop, perhaps whether the step failed, it is reported with `--pedantic`.

## Why it matters

Running out of memory, or a bad sample, strikes one rank. It breaks off its step while the others wait in theirs for
its gradients. In the next round the rank that failed comes to its exchange, which is paired with the one before of
the others: from then on the ranks average gradients of different steps, or wait for ever for one that never comes.

## Example

```python bad
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")


def train(loader, optimizer):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    for batch in loader:
        try:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        except RuntimeError as error:  #~ DDP508
            print("skipped", error)
```

```python good
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")


def train(loader, optimizer):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    for batch in loader:
        try:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        except RuntimeError as error:
            print("failed", error)
            raise
```

## Fix

None: to end the job, and let the launcher start it anew from the last checkpoint, is the safe way. Whether a step can
be skipped has to be agreed upon by all ranks, before any of them comes to a collective of it.

## At run time

Confirmed when the handler ran on one rank while another came to the exchange. Refuted when it ran on all ranks in the
same round. Not exercised when nothing failed.

## References

- What DDP does in a step: https://docs.pytorch.org/docs/stable/notes/ddp.html
- Elastic restarts: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    BACKWARD,
    LOOP_DRIVERS,
    Confidence,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    Swallowed,
)

RULE = Rule(
    code="DDP508",
    name="swallowed-failure",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("except",),
    everyday=True,
    discharged_by=LOOP_DRIVERS,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the handlers that pass over failed training steps."""
    if project.role(script) is Role.TEST:
        return
    for swallowed in project.swallowed_failures.of(script):
        yield _found(swallowed)


def _found(swallowed: Swallowed) -> Found:
    missed = "the exchange of gradients" if swallowed.site.kind == BACKWARD else "the forward of the wrapped model"
    message = (
        f"a step that fails on one rank is passed over there, while the others wait in {missed}: from then on the "
        "ranks hang or mix the gradients of different steps; let the error end the job"
    )
    handler = swallowed.handler
    at = handler.node if handler.caught is None else handler.caught
    confidence = Confidence.POSSIBLE if swallowed.agreed else Confidence.LIKELY
    return Found(at, message, confidence, ((swallowed.site.call, "the step that may fail"),))
