"""A loop or a function that some ranks leave while the others go on to a collective

## What it finds

`return`, `break`, `continue` or the end of the process, before a collective or a training step of a wrapped model,
where not all ranks leave together:

- under a test of the rank: `if rank != 0: return`, or a `break` that only the first rank decides on;
- under a test of what each rank computes from its own batch: a loss that is no number, an empty batch;
- after patience with a validation of which each rank sees its own share (a loader with a DistributedSampler);
- in a handler that passes over a failure of the training step, which may strike one rank alone.

It is silent where the decision has gone through a collective before, where all ranks compute the same (an unsharded
validation, the norm of the reduced gradients, counters, options), where the ranks that leave have come to the same
kind of collective before, and for exceptions that end the handler again. An exception or a non-zero exit status ends
the whole job through its launcher: it is reported with `--pedantic`, as is an exit before a collective that a switch
decides on.

## Why it matters

The ranks that go on wait in their next collective for one that has left: a job that hangs until its timeout, after
hours of training and with a stack trace of the ranks that did nothing wrong. A rank that skipped one step is worse:
it pairs its next exchange of gradients with an older one of the others, and the training goes on with mixed up
numbers. A barrier does not help: it aligns the time, not the decision.

## Symptoms

- my training hangs at the end of an epoch
- Watchdog caught collective operation timeout
- Connection closed by peer
- one rank stops early and the others wait

## Example

```python bad
import torch
import torch.distributed as dist
from torch import nn


def train(loader, optimizer):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        if torch.isnan(loss):
            continue  #~ DDP502
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

The ranks agree first: if one has to skip the step, all do.

```python good
import torch
import torch.distributed as dist
from torch import nn


def train(loader, optimizer):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        skip = torch.isnan(loss).float()
        dist.all_reduce(skip, op=dist.ReduceOp.MAX)
        if skip.item():
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python bad
import torch.distributed as dist

dist.init_process_group("nccl")


def fit(model, epochs, patience, rank):
    best, waited = float("inf"), 0
    for epoch in range(epochs):
        loss = train_epoch(model)
        dist.all_reduce(loss)
        if rank == 0:
            waited = 0 if loss < best else waited + 1
            best = min(best, loss)
            if waited > patience:
                break  #~ DDP502
```

All ranks hold the same loss after `all_reduce`, so each can count for itself:

```python good
import torch.distributed as dist

dist.init_process_group("nccl")


def fit(model, epochs, patience, rank):
    best, waited = float("inf"), 0
    for epoch in range(epochs):
        loss = train_epoch(model)
        dist.all_reduce(loss)
        waited = 0 if loss < best else waited + 1
        best = min(best, loss)
        if waited > patience:
            break
```

## Fix

None: a collective has to carry the decision, and only the author knows who decides. `all_reduce` with `MAX` lets any
rank stop all; `broadcast` lets one rank decide for all.

## At run time

Confirmed when one rank takes the exit and another comes to the collective without it. Refuted when every rank took
the exit in the same pass. Not exercised when no rank took it: the condition did not occur.

## References

- "all processes in the group must call it": https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
- What DDP does in a step: https://docs.pytorch.org/docs/stable/notes/ddp.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    BACKWARD,
    FORWARD,
    Call,
    Confidence,
    Divergence,
    ExitKind,
    Expression,
    Finding,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    UnevenExit,
    Verdict,
    decided_by,
    ranks_named,
    shown,
    written,
)

RULE = Rule(
    code="DDP502",
    name="rank-dependent-exit",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("backward", "barrier", "reduce", "gather", "broadcast", "rank", "RANK", "main", "master", "primary"),
    everyday=True,
)
WHY = {
    Divergence.RANK: "only the ranks for which `{decision}` comes out that way leave here",
    Divergence.LOSS: "each rank decides on `{decision}` by its own batch",
    Divergence.BATCH: "each rank decides on `{decision}` by its own batch",
    Divergence.METRIC: "each rank decides on `{decision}` by its own share of the data",
    Divergence.FAILURE: "a failure on one rank ends its step here and no other's",
}
REMEDY = {
    Divergence.RANK: "broadcast the decision and let all ranks leave together",
    Divergence.FAILURE: "let the exception end the job, or all_reduce a flag so that all ranks skip the step",
}
WORDS = {
    ExitKind.RETURN: "`return`",
    ExitKind.RAISE: "`raise`",
    ExitKind.BREAK: "`break`",
    ExitKind.CONTINUE: "`continue`",
}
MODEL = {FORWARD: "the forward of the wrapped model", BACKWARD: "the exchange of gradients in the backward pass"}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the exits that part the ranks before a collective."""
    if project.role(script) is Role.TEST:
        return
    for function in (None, *script.functions):
        for found in project.exits.uneven(function, script):
            yield _found(found)


def _found(found: UnevenExit) -> Found:
    decision = "" if found.decision is None else written(found.decision)
    word = WORDS[found.kind] if found.kind is not None else _end_of_process(found)
    missed = MODEL.get(
        found.missed.kind, f"`{found.missed.kind}`" if " " not in found.missed.kind else found.missed.kind
    )
    remedy = REMEDY.get(found.reason, "all_reduce the decision before it, so that all ranks take the same way")
    message = f"{word} on some ranks only: {WHY[found.reason].format(decision=decision)}, the others go on to {missed} "
    message += f"and wait there; {remedy}"
    confidence = Confidence.POSSIBLE if found.fails or found.doubtful else Confidence.LIKELY
    related: list[tuple[Expression, str]] = [(found.missed.call, "what the others go on to")]
    if found.decision is not None:
        related.append((found.decision, "what decides"))
    return Found(found.at, message, confidence, tuple(related))


def _end_of_process(found: UnevenExit) -> str:
    assert isinstance(found.at, Call)
    return f"`{shown(found.at)}`"


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for ranks that took the exit while others wait for them."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    came = [rank for rank, count in trace.reached(finding.lines).items() if count]
    stayed = [rank for rank in trace.ranks if rank not in came]
    decided = decided_by(finding, trace)
    evidence = [*map(str, trace.waits), *([] if decided is None else [decided])]
    if trace.waits and stayed:
        return Verdict.confirmed(f"{ranks_named(came, trace)} took the exit, and the others wait", *evidence)
    if not stayed and trace.ended_well:
        return Verdict.refuted(f"{ranks_named(came, trace)} took the exit, and no rank waits", *evidence)
    return Verdict.not_exercised("the run does not tell whether another rank waits for this one", *evidence)
