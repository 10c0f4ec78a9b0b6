"""What there is to say of a traced run itself, beside its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ddplint.findings import Finding, Status
from ddplint.reporting.escape import visible
from ddplint.reporting.style import Paint, Style
from ddplint.trace import Ending, Event, Kind, Outcome, Trace

_ENDED = {
    Ending.FINISHED: "ended",
    Ending.FAILED: "failed",
    Ending.HANG: "hung: nothing moved any more",
    Ending.TIME_LIMIT: "was ended by the time limit",
    Ending.INTERRUPTED: "was interrupted",
}
_LAST = 8  # lines of the output of the rank that failed


def render_run(trace: Trace, findings: Sequence[Finding], *, color: bool = False) -> str:
    """Return a paragraph about a run: its verdicts and ranks, how it ended, who failed with which last words."""
    return "\n".join([*_verdicts(findings), *_lines(trace, Style(color))]) + "\n"


def run_content(trace: Trace) -> dict[str, Any]:
    """Return the same for a report in JSON."""
    outcome, torch = trace.outcome, _torch(trace)
    return {
        "ranks": list(trace.ranks),
        "world_size": trace.world_size,
        "torch": None if torch is None else torch["version"],
        "cuda_stand_in": torch is not None and bool(torch["stand_in"]),
        "ending": None if outcome is None else outcome.ending.value,
        "seconds": None if outcome is None else outcome.seconds,
        "stopped": _stopped(trace),
        "steps": {str(rank): len(trace.steps(rank)) for rank in trace.ranks},
        "waits": [str(wait) for wait in trace.waits],
        "failures": [_failure(event) for event in trace.failures],
        "hooks_failed": sorted({str(event["hook"]) for event in trace.hooks_failed}),
    }


def _verdicts(findings: Sequence[Finding]) -> Iterator[str]:
    counts = Counter(finding.verdict.status for finding in findings if finding.verdict)
    told = [f"{counts[status]} {status.value.replace('_', ' ')}" for status in Status if counts[status]]
    without = len(findings) - counts.total()
    if findings:
        yield "verdicts: " + ", ".join([*told, *([f"{without} of rules that judge no runs"] if without else [])])


def _lines(trace: Trace, style: Style) -> Iterator[str]:
    outcome = trace.outcome
    made = ", ".join(f"rank {rank}: {len(trace.steps(rank))} optimizer steps" for rank in trace.ranks)
    torch = _torch(trace)
    version = "" if torch is None else f", torch {torch['version']}"
    if outcome is not None:
        how = _ENDED[Ending.FINISHED if trace.ended_well else outcome.ending]
        ended = f"the script {how} after {outcome.seconds:.1f} s{visible(version)}"
        yield style.paint(Paint.BOLD, "run") + f": {ended}" + (f" ({made})" if made else "")
    stopped = _stopped(trace)
    if stopped is not None:
        yield f"  it was stopped: {visible(stopped)}"
    yield from (f"  {visible(str(wait))}" for wait in trace.waits)
    if outcome is not None and outcome.ending is Ending.FAILED:
        yield from _about_failures(trace, outcome)
    failed = sorted({str(event["hook"]) for event in trace.hooks_failed})
    if failed:
        yield f"  could not be watched: {visible(', '.join(failed))}"


def _about_failures(trace: Trace, outcome: Outcome) -> Iterator[str]:
    """Name the first that failed with its last lines, and who ended without an error of Python's."""
    first = next(iter(trace.failures), None)
    if first is not None:
        yield f"  first to fail: {visible(_failure(first))}"
        yield from _last_words(outcome, first.rank)
    explained = {event.rank for event in trace.failures}
    silent = {rank: code for rank, code in outcome.codes.items() if code and rank >= 0 and rank not in explained}
    if not silent and first is None:
        silent = {rank: code for rank, code in outcome.codes.items() if code}
    for rank, code in sorted(silent.items()):
        who = "the script" if rank < 0 else f"rank {rank}"
        yield f"  {who} " + (f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}")
        yield from _last_words(outcome, rank)


def _last_words(outcome: Outcome, rank: int | None) -> list[str]:
    lines = outcome.output.get(-1 if rank is None else rank, ())
    return [f"    | {visible(line)}" for line in lines[-_LAST:]]


def _failure(event: Event) -> str:
    who = "the script" if event.rank is None else f"rank {event.rank}"
    where = f" at {event.at}" if event.at is not None else ""
    said = str(event["text"]).strip().split("\n")[0]
    return f"{who}{where}: {event['error']}: {said}" if said else f"{who}{where}: {event['error']}"


def _stopped(trace: Trace) -> str | None:
    stops = trace.of(Kind.STOP)
    return str(stops[0]["reason"]) if stops else None


def _torch(trace: Trace) -> Event | None:
    return next((event for process in trace.all_processes for event in process.of(Kind.TORCH)), None)
