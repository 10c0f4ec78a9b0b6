"""How a run ended, as the supervisor saw it from outside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Mapping

from ddplint.trace.events import Frame, shown

FILE = "outcome.json"


class Ending(str, Enum):
    """What ended a run."""

    FINISHED = "finished"  # every process ended by itself, or stopped because enough was seen
    FAILED = "failed"  # a process ended with an error
    HANG = "hang"  # nothing moved any more
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"  # by the user


@dataclass(frozen=True)
class Pulse:
    """The last that was heard of a process: where its main thread was, and in which operation."""

    pid: int
    rank: int | None
    time: float
    phase: str  # importing, running, loading, parked
    pending: str | None  # a collective, "backward", "forward" ..., None outside of all of these
    stack: tuple[Frame, ...]  # the user's frames
    inside: str  # the innermost function, of whomever


@dataclass(frozen=True)
class Outcome:
    """How a run ended: ``codes`` holds the exit codes by rank that are known, ``pulses`` the last of each process.

    ``output`` holds the last lines that each rank wrote; the key is the rank, or -1 for the launcher.
    """

    ending: Ending
    seconds: float
    codes: Mapping[int, int]
    pulses: tuple[Pulse, ...]
    output: Mapping[int, tuple[str, ...]]


def read_outcome(folder: Path, base: str) -> Outcome | None:
    """Read how the run in a folder ended, None when it has not."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Outcome(
        Ending(content["ending"]),
        content["seconds"],
        {int(rank): code for rank, code in content["codes"].items()},
        tuple(read_pulse(pulse, base) for pulse in content["pulses"]),
        {int(rank): tuple(lines) for rank, lines in content["output"].items()},
    )


def read_pulse(content: Mapping[str, Any], base: str) -> Pulse:
    """Return what a process last wrote of itself."""
    stack = tuple(Frame(shown(path, base), line, function) for path, line, function in content["stack"])
    return Pulse(
        content["pid"],
        content["rank"],
        content["time"],
        content["phase"],
        content["pending"],
        stack,
        content["inside"],
    )
