"""A forward of a DistributedDataParallel model on some ranks only: it exchanges buffers or gradients with the others

## What it finds

A call of a model wrapped in DistributedDataParallel, or a backward pass through it, under a test of the rank that the
other ranks don't match: evaluation on the first rank, mostly. The call may stand in a function that is handed the
wrapped model under the test.

It is silent where the model inside is called (`model.module`), where DDP is told `broadcast_buffers=False` or the
model certainly holds no buffers and no gradient is recorded, and where all ranks call the wrapped model as often.
Where nothing of the model is known and nothing in the program speaks of BatchNorm or other buffers, it is reported
with `--pedantic`.

## Why it matters

In each forward, in evaluation as well, DDP broadcasts the buffers of the model from the first rank, such as the
running statistics of BatchNorm. The other ranks don't come. Either the first rank hangs until the timeout, or its
broadcast pairs with the next collective of the others: a barrier, or an exchange of gradients that then mixes up
numbers.

## Symptoms

- my training hangs during or after evaluation
- Watchdog caught collective operation timeout
- Connection closed by peer

## Example

```python bad
import torch
import torch.distributed as dist
from torch import nn


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(model(inputs).sum() for inputs in loader)


def train(loader, val_loader, rank):
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
    model = nn.parallel.DistributedDataParallel(net)
    train_epoch(model, loader)
    if rank == 0:
        print(evaluate(model, val_loader))  #~ DDP503
    dist.barrier()
```

```python fixed
import torch
import torch.distributed as dist
from torch import nn


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(model(inputs).sum() for inputs in loader)


def train(loader, val_loader, rank):
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
    model = nn.parallel.DistributedDataParallel(net)
    train_epoch(model, loader)
    if rank == 0:
        print(evaluate(model.module, val_loader))
    dist.barrier()
```

All ranks evaluate a share each, and add up:

```python good
import torch
import torch.distributed as dist
from torch import nn


def train(loader, val_loader, rank):
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
    model = nn.parallel.DistributedDataParallel(net)
    train_epoch(model, loader)
    with torch.no_grad():
        total = sum(model(inputs).sum() for inputs in val_loader)
    dist.all_reduce(total)
    if rank == 0:
        print(total)
```

## Fix

Safe for an evaluation (`no_grad` or `inference_mode` in sight) of a model that is wrapped on every run: `.module` is
added where the model is called, or where it is handed to a function that does nothing with it but evaluate. The model
inside gives the same outputs. There is no fix where a gradient is recorded: past the wrapper it would never be
exchanged.

## At run time

Confirmed when one rank is in a forward of the wrapper and the others are elsewhere. Refuted when all ranks run it, or
when the wrapper has no buffers to send. Not exercised when the test let nobody in.

## References

- "broadcast_buffers": https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
- What DDP does in a forward: https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ddplint.rulekit import (
    BACKWARD,
    FORWARD,
    Applicability,
    Buffers,
    Confidence,
    Editor,
    Event,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Lopsided,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    decided_by,
    ranks_named,
    shown,
    written,
)

RULE = Rule(
    code="DDP503",
    name="ddp-under-rank-guard",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("rank", "RANK", "main", "master", "primary", "gpu", "leader", "chief"),
    everyday=True,
    applicability=Applicability.SAFE,
)
# Words of programs whose models hold buffers.
BUFFER_WORDS = (b"BatchNorm", b"batch_norm", b"register_buffer", b"torchvision.models", b"timm", b"resnet", b"ResNet")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report forward and backward passes of wrapped models that a test of the rank keeps some ranks from."""
    if project.role(script) is Role.TEST:
        return
    for function in (None, *script.functions):
        passes = [one for one in project.balance.lopsided(function, script) if one.site.kind in (FORWARD, BACKWARD)]
        told: set[int] = set()
        for found in passes:
            confidence = _confidence(found, passes, script, project)
            if confidence is not None and id(found.site.call) not in told and not _follows(found, passes):
                told.add(id(found.site.call))
                yield _found(found, confidence, project)


def _follows(found: Lopsided, passes: Sequence[Lopsided]) -> bool:
    """Whether a backward pass belongs to a forward under the same test, which is reported."""
    return found.site.kind == BACKWARD and any(one.site.kind == FORWARD and one.guard is found.guard for one in passes)


def _confidence(found: Lopsided, passes: Sequence[Lopsided], script: Script, project: Project) -> Confidence | None:
    """How sure it is that the ranks meet in a pass; None: they don't."""
    trains = any(one.site.kind == BACKWARD and one.guard is found.guard for one in passes)
    buffers = Buffers.SOME if trains else project.buffers.synchronised(found.site.collective.callee, found.site.frame)
    if buffers is Buffers.NONE:
        return None
    if found.doubtful or (buffers is Buffers.UNKNOWN and not project.mentions(script, BUFFER_WORDS)):
        return Confidence.POSSIBLE
    return Confidence.LIKELY


def _found(found: Lopsided, confidence: Confidence, project: Project) -> Found:
    site = found.site
    related: list[tuple[Expression, str]] = [(found.guard, "the test of the rank")]
    if len(site.path) > 1:
        related.append((site.collective, "where the wrapped model runs"))
    evaluates = any(project.training.without_gradient(call) for call in site.path)
    shared = "its buffers" if evaluates else "its buffers and gradients"
    remedy = "evaluate `.module` there" if evaluates else "let all ranks run it"
    what = "runs a backward pass through a" if site.kind == BACKWARD else "runs a"
    message = (
        f"`{shown(site.call)}` {what} DistributedDataParallel model only on ranks that pass `{written(found.guard)}`: "
        f"it exchanges {shared} with ranks that never come; {remedy}"
    )
    return Found(site.call, message, confidence, tuple(related), subject=project.moves.wrapper_off(site))


def fix(found: Found, edits: Editor) -> Fix | None:
    """Evaluate the model inside of the wrapper."""
    if not isinstance(found.subject, Expression):
        return None
    changes = edits.insert_after(found.subject.node, ".module")
    return Fix(Applicability.SAFE, f"Evaluate `{shown(found.subject)}.module`, which meets nobody", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for ranks that wait in the pass, or that made it alone."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    decided = decided_by(finding, trace)
    decision = [] if decided is None else [decided]
    if trace.waits_below(finding.lines):
        return Verdict.confirmed("a rank waits in it for others that do not come", *map(str, trace.waits), *decision)
    passes = [one for one in trace.below(finding.lines, Kind.FORWARD, Kind.BACKWARD) if _is_met(one)]
    if not passes:
        return Verdict.refuted("the wrapper was not run there", *decision)
    counts = {rank: sum(one.rank == rank for one in passes) for rank in trace.ranks}
    came = [rank for rank, count in counts.items() if count]
    evidence = [f"rank {rank}: {count} passes" for rank, count in counts.items()]
    if len(set(counts.values())) == 1:
        return Verdict.refuted(f"{ranks_named(came, trace)} made it as often", *evidence)
    wrappers = trace.of(Kind.DDP)
    trains = any(one["grad"] or one.kind is Kind.BACKWARD for one in passes)
    if not trains and wrappers and not any(one["buffers"] and one["broadcast_buffers"] for one in wrappers):
        return Verdict.refuted("the wrapper has no buffers to send in an evaluation", *evidence)
    return Verdict.confirmed(f"{ranks_named(came, trace)} ran the wrapper without the others", *evidence, *decision)


def _is_met(one: Event) -> bool:
    return one.kind is Kind.BACKWARD or one["wrapper"] == "ddp"
