"""Who waits where: the ranks of a run that came to a standstill, or that lost the ranks they were waiting for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, Sequence

from ddplint.trace.events import Event, Frame, Process
from ddplint.trace.kinds import Kind
from ddplint.trace.outcome import Ending, Outcome

# What backends say when the other side has gone, or does not come.
_LOST = re.compile(
    r"connection (?:was )?(?:closed|reset)|broken pipe|timed? ?out|connect(?:ion)? refused|remote process exited"
    r"|socket (?:was )?closed|failed to pass",
    re.IGNORECASE,
)
_ENTER = {Kind.COLLECTIVE: "op", Kind.BACKWARD: "", Kind.FORWARD: ""}
_LEAVE = (Kind.COLLECTIVE_DONE, Kind.BACKWARD_DONE, Kind.FORWARD_DONE)


@dataclass(frozen=True)
class Wait:
    """Where a rank was when the run stood still, or lost a partner.

    ``operation``: a collective, backward or forward; None when the rank was outside of all of these, or had ended.
    ``text``: what the backend said, where it said something.
    """

    rank: int
    operation: str | None
    stack: tuple[Frame, ...]
    ended: bool = False
    text: str = ""

    def __str__(self) -> str:
        called = f", called from {self.stack[1]}" if len(self.stack) > 1 else ""
        where = f" ({self.stack[0]}{called})" if self.stack else ""
        if self.ended:
            return f"rank {self.rank} had ended"
        if self.operation is None:
            return f"rank {self.rank} was elsewhere{where}"
        operation = "all_reduce of backward" if self.operation == "backward" else self.operation
        if self.text:
            return f"rank {self.rank} lost its partner in {operation}{where}: {self.text}"
        return f"rank {self.rank} waits in {operation}{where}"


def waits(processes: Sequence[Process], outcome: Outcome | None, until: float) -> tuple[Wait, ...]:
    """Return where each rank was, empty when the run neither hung nor failed for the lack of a partner before a time.

    ``until``: when the first rank stopped because enough was seen, infinite when none did.
    """
    ranked = [process for process in processes if process.rank is not None]
    if outcome is None or not ranked:
        return ()
    if outcome.ending is Ending.HANG:
        return tuple(sorted(_standing(ranked, outcome), key=lambda wait: wait.rank)) if until == float("inf") else ()
    errors = [error for process in ranked for error in process.of(Kind.ERROR) if error.time <= until]
    lost = {error.process.pid: error for error in errors if _is_lost(error)}
    if not lost or min(error.time for error in errors) < min(error.time for error in lost.values()):
        return ()  # a rank that failed for another reason is gone, and that is no standstill
    if any(process.pid not in lost and gave_up(process, outcome) for process in ranked):
        return ()  # nor is one that was killed, or that gave up
    return tuple(sorted((_last(process, lost.get(process.pid)) for process in ranked), key=lambda wait: wait.rank))


def _standing(ranked: Sequence[Process], outcome: Outcome) -> Iterator[Wait]:
    pulses = {pulse.pid: pulse for pulse in outcome.pulses}
    for process in ranked:
        assert process.rank is not None
        pulse = pulses.get(process.pid)
        if pulse is None or any(process.of(Kind.EXIT)):
            yield Wait(process.rank, None, (), ended=True)
        else:
            yield Wait(process.rank, pulse.pending, pulse.stack)


def gave_up(process: Process, outcome: Outcome) -> bool:
    """Whether a process ended with a code that says so; an abort after its last line is the doing of a destructor."""
    code = outcome.codes.get(process.rank or 0, 0)
    return code > 0 or (code < 0 and not any(process.of(Kind.EXIT)))


def _is_lost(error: Event) -> bool:
    """Whether an error says that another process did not come, or has gone."""
    return _LOST.search(str(error["text"])) is not None


def _last(process: Process, error: Event | None) -> Wait:
    assert process.rank is not None
    entered = _open(process)
    if error is None and entered is None:
        ended = any(process.of(Kind.EXIT))
        return Wait(process.rank, None, () if ended or not process.events else process.events[-1].stack, ended)
    if error is None:
        assert entered is not None
        return Wait(process.rank, _operation(entered), entered.stack)
    text = str(error["text"]).strip().split("\n")[0]
    text = re.sub(r"^\[[^\]]*\]\s*", "", text)
    operation = None if entered is None else _operation(entered)
    return Wait(process.rank, operation, error.stack if entered is None else entered.stack, text=text[:120])


def _open(process: Process) -> Event | None:
    """The innermost operation that a process had entered and not left when it ended, or that raised its error."""
    opened = []
    for event in process.events:
        if event.kind in _ENTER:
            opened.append(event)
        elif event.kind in _LEAVE and event["error"] is None:
            opened = [one for one in opened if one["call"] != event["of"]]
    return opened[-1] if opened else None


def _operation(entered: Event) -> str:
    return str(entered["op"]) if entered.kind is Kind.COLLECTIVE else entered.kind.value
