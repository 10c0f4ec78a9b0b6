"""What a check of the machine says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How a check ended; the order is that of a report."""

    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check makes of the facts: what was read, what it should be, and what to do where it is not."""

    status: Status
    read: str
    should: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict with the check that gave it; ``command`` shows the fact at a shell."""

    code: str
    name: str
    verdict: Verdict
    command: str


def ok(read: str) -> Verdict:
    """Nothing to do."""
    return Verdict(Status.OK, read)


def warn(read: str, should: str, remedy: str) -> Verdict:
    """It costs time, or may fail later."""
    return Verdict(Status.WARN, read, should, remedy)


def fail(read: str, should: str, remedy: str) -> Verdict:
    """It stops the training or makes it wrong."""
    return Verdict(Status.FAIL, read, should, remedy)


def unknown(why: str, remedy: str = "") -> Verdict:
    """The facts could not be read."""
    return Verdict(Status.UNKNOWN, why, remedy=remedy)
