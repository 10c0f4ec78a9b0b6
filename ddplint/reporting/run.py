"""What there is to say of a traced run itself, beside its findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ddplint.reporting.escape import visible
from ddplint.reporting.style import Paint, Style
from ddplint.trace import Ending, Event, Kind, Trace

_ENDED = {
    Ending.FINISHED: "ended",
    Ending.FAILED: "failed",
    Ending.HANG: "hung: nothing moved any more",
    Ending.TIME_LIMIT: "was ended by the time limit",
    Ending.INTERRUPTED: "was interrupted",
}
_LAST = 8  # lines of the output of the rank that failed


def render_run(trace: Trace, *, color: bool = False) -> str:
    """Return a paragraph about a run: its ranks, how it ended, who failed with which last words."""
    return "\n".join(_lines(trace, Style(color))) + "\n"


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


def _lines(trace: Trace, style: Style) -> Iterator[str]:
    outcome = trace.outcome
    made = ", ".join(f"rank {rank}: {len(trace.steps(rank))} optimizer steps" for rank in trace.ranks)
    torch = _torch(trace)
    version = "" if torch is None else f", torch {torch['version']}"
    if outcome is not None:
        ended = f"the script {_ENDED[outcome.ending]} after {outcome.seconds:.1f} s{visible(version)}"
        yield style.paint(Paint.BOLD, "run") + f": {ended}" + (f" ({made})" if made else "")
    stopped = _stopped(trace)
    if stopped is not None:
        yield f"  it was stopped: {visible(stopped)}"
    yield from (f"  {visible(str(wait))}" for wait in trace.waits)
    if trace.failures:
        yield from _about_failure(trace)
    elif outcome is not None and outcome.ending is Ending.FAILED:
        yield from _about_exit_codes(trace)
    failed = sorted({str(event["hook"]) for event in trace.hooks_failed})
    if failed:
        yield f"  could not be watched: {visible(', '.join(failed))}"


def _about_failure(trace: Trace) -> Iterator[str]:
    first = trace.failures[0]
    yield f"  first to fail: {visible(_failure(first))}"
    if trace.outcome is not None and first.rank is not None:
        yield from (f"    | {visible(line)}" for line in trace.outcome.output.get(first.rank, ())[-_LAST:])


def _about_exit_codes(trace: Trace) -> Iterator[str]:
    outcome = trace.outcome
    assert outcome is not None
    for rank, code in outcome.codes.items():
        if code:
            yield f"  {'the script' if rank < 0 else f'rank {rank}'} ended with exit code {code}"
    for rank, lines in outcome.output.items():
        who = "launcher" if rank < 0 else f"rank {rank}"
        yield from (f"    {who} | {visible(line)}" for line in lines[-_LAST:])


def _failure(event: Event) -> str:
    who = "the script" if event.rank is None else f"rank {event.rank}"
    where = f" at {event.at}" if event.at is not None else ""
    said = str(event["text"]).strip().split("\n")[0]
    return f"{who}{where}: {event['error']}: {said}" if said else f"{who}{where}: {event['error']}"


def _stopped(trace: Trace) -> str | None:
    stops = trace.of(Kind.STOP)
    return str(stops[0]["reason"]) if stops else None


def _torch(trace: Trace) -> Event | None:
    return next(iter(trace.of(Kind.TORCH)), None)
