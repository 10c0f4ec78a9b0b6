"""What a run says: findings, the places they speak of, the fixes they carry and the verdicts they get.

Everything here is frozen, picklable and free of syntax nodes, so that it can travel between processes.
Lines and columns count from 1; columns count code points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ddplint.source import Position


class Impact(Enum):
    """What the user pays."""

    CRASH = "crash"
    HANG = "hang"
    WRONG = "wrong"
    SLOW = "slow"
    NOISE = "noise"
    DEPRECATED = "deprecated"


class Confidence(Enum):
    """How sure a finding is: nothing can make it false, shown by default, or shown only with ``--pedantic``."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Applicability(Enum):
    """What a fix promises.

    SAFE: every run that worked before works after, with the same or the documented better result.
    UNSAFE: the author has to agree with what changes.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one file, with the line on which it starts and, for related places, what is there."""

    path: str
    start: Position
    end: Position
    excerpt: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the text between two positions; equal positions insert."""

    path: str
    start: Position
    end: Position
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together: they apply whole or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


class Status(Enum):
    """What a traced run can say of a finding."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_EXERCISED = "not_exercised"
    COULD_NOT_RUN = "could_not_run"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a traced run said of a finding in one line, and the events that prove it, a line each."""

    status: Status
    summary: str
    evidence: tuple[str, ...] = ()

    @classmethod
    def confirmed(cls, summary: str, *evidence: str) -> Verdict:
        """Return that the run did what the finding says."""
        return cls(Status.CONFIRMED, summary, evidence)

    @classmethod
    def refuted(cls, summary: str, *evidence: str) -> Verdict:
        """Return that the run came there often enough, and did not do what the finding says."""
        return cls(Status.REFUTED, summary, evidence)

    @classmethod
    def not_exercised(cls, summary: str, *evidence: str) -> Verdict:
        """Return that the run did not come far enough to tell, and what was lacking."""
        return cls(Status.NOT_EXERCISED, summary, evidence)

    @classmethod
    def could_not_run(cls, summary: str, *evidence: str) -> Verdict:
        """Return that such a run can't be made here, and why."""
        return cls(Status.COULD_NOT_RUN, summary, evidence)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong at one place.

    ``statement`` is the first and last line of the statement around the place: a suppression comment on any of
    these lines covers the finding.
    """

    code: str
    name: str
    impact: Impact
    confidence: Confidence
    message: str
    place: Place
    statement: tuple[int, int]
    related: tuple[Place, ...] = ()
    fix: Fix | None = None
    verdict: Verdict | None = None

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def lines(self) -> Place:
        """The whole lines of the statement around the place: where a run can meet the finding."""
        first, last = self.statement
        return Place(self.path, Position(first, 1), Position(last, 1))

    @property
    def sort_key(self) -> tuple[str, Position, str, str]:
        """Order of a report: by file, place and code."""
        return (self.place.path, self.place.start, self.code, self.message)
