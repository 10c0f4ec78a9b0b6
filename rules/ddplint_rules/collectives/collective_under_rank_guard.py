"""A collective that only some ranks come to: they wait in it for the others, who never come

## What it finds

A collective under a test of the rank that the other ranks don't answer: `barrier`, `all_reduce`, `broadcast`,
`gather` and their kin, object collectives, `new_group`, the construction of DistributedDataParallel, sharded
checkpoints, the forward and the `state_dict` of FullyShardedDataParallel. It may stand below the test itself, or in
any function that is called there. Tests of the rank are followed through names, attributes, arguments and helpers,
decorators such as `rank_zero_only` included. The forward of DistributedDataParallel is DDP503; an early exit before a
collective is DDP502.

It is silent where both sides come to the same kinds of collectives as often, wherever in the function, in its callers
or in a pair of functions the other half stands; in collectives that are given a group, since that may hold exactly
these ranks; for messages between two ranks; and for tests that come out the same on all ranks, such as `local_rank !=
-1`, `world_size > 1` or `is_initialized()`. Where a switch decides whether the collective is reached, it is reported
with `--pedantic`.

## Why it matters

A collective ends when every rank of the group has called it. The ranks under the test wait until the timeout of the
group, 10 or 30 minutes by default, and then the job fails somewhere else: the stack trace shows whoever waited, not
the line that is wrong. When the other ranks come to their next collective meanwhile, the two are taken for one, and
the numbers are wrong instead.

## Symptoms

- my training hangs
- Watchdog caught collective operation timeout
- Connection closed by peer
- one rank waits in a barrier
- Timed out waiting 1800000ms for recv operation to complete

## Example

```python bad
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def save(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
        dist.barrier()  #~ DDP501
```

```python fixed
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def save(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
```

A group is made by all ranks, also by those that are not to be in it:

```python bad
import torch.distributed as dist

dist.init_process_group("nccl")


def pair_up(rank):
    if rank in (0, 1):
        return dist.new_group([0, 1])  #~ DDP501
    return None
```

```python good
import torch.distributed as dist

dist.init_process_group("nccl")


def pair_up(rank):
    group = dist.new_group([0, 1])
    return group if rank in (0, 1) else None
```

One rank first, then the others: two barriers, and each rank comes to one of them:

```python good
import torch.distributed as dist

dist.init_process_group("nccl")


def load(rank, path):
    if rank != 0:
        dist.barrier()
    data = download(path)
    if rank == 0:
        dist.barrier()
    return data
```

## Fix

Safe for a `barrier()` without arguments that is the last statement under a plain test of the rank: it moves behind
the `if`. A run with one process does the same before and after; a run with several came to no end before. All other
collectives carry values, and only the author knows what the other ranks have to give.

## At run time

Confirmed when one rank waits in the collective while another passes the test's other side, or ends. Refuted when all
ranks come to it. Not exercised when the test never let anybody in.

## References

- "all processes in the group must call it": https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
- new_group: https://docs.pytorch.org/docs/stable/distributed.html#groups
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    BACKWARD,
    FORWARD,
    Applicability,
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
    code="DDP501",
    name="collective-under-rank-guard",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("rank", "RANK", "main", "master", "primary", "gpu", "leader", "chief"),
    everyday=True,
    applicability=Applicability.SAFE,
)
REMEDIES = {
    "new_group": "make the group on all ranks and use it on its members",
    "barrier": "move it out from under the test",
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the collectives, but for those of a model, that a test of the rank keeps some ranks from."""
    if project.role(script) is Role.TEST:
        return
    for function in (None, *script.functions):
        told: set[int] = set()
        for found in project.balance.lopsided(function, script):
            if found.site.kind not in (FORWARD, BACKWARD) and id(found.site.call) not in told:
                told.add(id(found.site.call))
                yield _found(found, project)


def _found(found: Lopsided, project: Project) -> Found:
    site = found.site
    related: list[tuple[Expression, str]] = [(found.guard, "the test of the rank")]
    what = f"`{shown(site.call)}`"
    if len(site.path) > 1:
        what += f" comes to the {site.kind}, and" if " " in site.kind else f" comes to `{site.kind}`, and"
        related.append((site.collective, f"the {site.kind}"))
    else:
        what += " is a meeting of all ranks, and"
    remedy = REMEDIES.get(site.kind, "let every rank make the call, and test the rank afterwards")
    wait = "they wait for the others until the timeout"
    message = f"{what} only ranks that pass `{written(found.guard)}` make it: {wait}; {remedy}"
    confidence = Confidence.POSSIBLE if found.doubtful else Confidence.LIKELY
    return Found(site.call, message, confidence, tuple(related), subject=project.moves.barrier_out(found))


def fix(found: Found, edits: Editor) -> Fix | None:
    """Move a barrier that ends the body of the test behind it."""
    if not isinstance(found.subject, tuple) or not isinstance(found.at, Expression):
        return None
    line, guard = found.subject
    moved = edits.source_text(found.at.node)
    changes = (*edits.remove_statement(line), *edits.insert_statements_after(guard, [moved]))
    return Fix(Applicability.SAFE, f"Move `{moved}` behind the test of the rank", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for ranks that wait in the collective, or that met another one there."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    decided = decided_by(finding, trace)
    decision = [] if decided is None else [decided]
    if trace.waits_below(finding.lines):
        return Verdict.confirmed("a rank waits in it for others that do not come", *map(str, trace.waits), *decision)
    entered = trace.below(finding.lines, Kind.COLLECTIVE)
    if not entered:
        return Verdict.not_exercised("no rank came to the collective", *decision)
    came = ranks_named({event.rank for event in entered if event.rank is not None}, trace)
    for event in entered:
        missed = [rank for rank, other in trace.meeting(event).items() if other is None or other["op"] != event["op"]]
        if missed:
            evidence = [_met(event, rank, trace) for rank in missed]
            return Verdict.confirmed(
                f"{came} made this {event['op']}, and met another collective", *evidence, *decision
            )
    if {event.rank for event in entered} == {*trace.ranks}:
        return Verdict.refuted(f"{came} came to it", *_counts(entered, trace))
    if all(trace.meeting(event) for event in entered):
        return Verdict.refuted(f"{came} came to it, and the others to one of their own")
    return Verdict.confirmed(f"only {came} came to it", *_counts(entered, trace), *decision)


def _met(entered: Event, rank: int, trace: Trace) -> str:
    other = trace.meeting(entered)[rank]
    what = "none, or one of DistributedDataParallel's" if other is None else f"{other['op']} ({other.at})"
    return f"collective {entered['sequence']} of rank {entered.rank} is {entered['op']}, that of rank {rank} is {what}"


def _counts(entered: list[Event], trace: Trace) -> list[str]:
    return [f"rank {rank}: {sum(event.rank == rank for event in entered)} times" for rank in trace.ranks]
