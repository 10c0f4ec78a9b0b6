"""What verdicts of several rules are made of: lines of evidence, and judgements of one kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ddplint.findings import Verdict
from ddplint.trace import Kind

if TYPE_CHECKING:
    from ddplint.findings import Finding
    from ddplint.trace import Event, Trace

_LONGEST = 60  # characters of a quotation


def ranks_named(ranks: Iterable[int], trace: Trace) -> str:
    """Return what to call some ranks of a run: ``rank 0``, ``ranks 0 and 2``, ``both ranks``, ``all 4 ranks``."""
    numbers = sorted(set(ranks))
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if numbers == list(trace.ranks):
        return "both ranks" if len(numbers) == 2 else f"all {len(numbers)} ranks"
    return f"ranks {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def quoted(text: str) -> str:
    """Return what a script said, short enough for a line of evidence."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _LONGEST else f'"{line[: _LONGEST - 3]}..."'


def decided_by(finding: Finding, trace: Trace) -> str | None:
    """Return which test let only some ranks come to a finding, None when that can't be told.

    The test is the first related place of the finding, if it is one of its own file.
    """
    test = next(iter(finding.related), None)
    if test is None:
        return None
    before, after = trace.reached(test), trace.reached(finding.lines)
    passed = [rank for rank, count in after.items() if count]
    stayed = [rank for rank, count in after.items() if not count and before.get(rank)]
    if not passed or not stayed:
        return None
    where = f"`{test.excerpt.strip().rstrip(':')}` ({test.path}:{test.start.line})"
    return f"decided by {where}: {ranks_named(passed, trace)} passed, {ranks_named(stayed, trace)} did not"


def done_by_ranks(events: Iterable[Event], trace: Trace, what: str) -> Verdict:
    """Judge something that one rank should do for all: confirmed when several did ``what`` (``drew a bar``)."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    counts: dict[int, int] = {}
    for event in events:
        if event.rank is not None:
            counts[event.rank] = counts.get(event.rank, 0) + 1
    if not counts:
        return Verdict.not_exercised(f"no rank {what} that the run could see")
    evidence = [f"rank {rank}: {count} times" for rank, count in sorted(counts.items())]
    if len(counts) == 1:
        return Verdict.refuted(f"{ranks_named(counts, trace)} alone {what}", *evidence)
    return Verdict.confirmed(f"{ranks_named(counts, trace)} {what}", *evidence)


def done_every_step(events: Iterable[Event], trace: Trace, what: str) -> Verdict:
    """Judge something that costs time when it is done in each optimizer step: confirmed when there are as many."""
    steps = {rank: len(trace.steps(rank)) for rank in trace.ranks}
    counts = dict.fromkeys(trace.ranks, 0)
    for event in events:
        if event.rank is not None:
            counts[event.rank] += 1
    evidence = [f"rank {rank}: {counts[rank]} in {steps[rank]} steps" for rank in trace.ranks]
    if max(steps.values(), default=0) < 2:
        return Verdict.not_exercised("no rank came to a second step", *evidence)
    often = [rank for rank in trace.ranks if steps[rank] > 1 and counts[rank] >= steps[rank] - 1]
    if often:
        return Verdict.confirmed(f"{ranks_named(often, trace)} {what} in every step", *evidence)
    return Verdict.refuted(f"no rank {what} in every step", *evidence)


def warned_of(finding: Finding, trace: Trace) -> Verdict:
    """Judge what torch warns of, or no longer has: by its warnings and errors at the line."""
    failed = [error for error in trace.failures if error.is_below(finding.lines)]
    if failed:
        return Verdict.confirmed("the line fails with this torch", f"{failed[0]['error']}: {quoted(failed[0]['text'])}")
    warnings = [event for event in trace.at(finding.lines, Kind.WARNING) if "deprecat" in str(event["text"]).lower()]
    if warnings:
        return Verdict.confirmed("torch warned of it", f"{warnings[0]['category']}: {quoted(str(warnings[0]['text']))}")
    versions = sorted({str(event["version"]) for event in trace.of(Kind.TORCH)})
    return Verdict.refuted(f"torch {', '.join(versions)} says nothing of it")


def set_in_environment(names: Iterable[str], trace: Trace) -> Verdict:
    """Judge a variable that should not be set where a process group is made."""
    found: dict[str, set[int]] = {}
    for group in trace.of(Kind.GROUP):
        for name in names:
            value = str((group["environment"] or {}).get(name, "0"))
            if value not in ("", "0") and group.rank is not None:
                found.setdefault(f"{name}={value}", set()).add(group.rank)
    if not trace.has_group:
        return Verdict.not_exercised("no process group was made")
    if not found:
        return Verdict.refuted("it was not set where the process group was made")
    return Verdict.confirmed("it was set", *(f"{ranks_named(ranks, trace)}: {name}" for name, ranks in found.items()))
