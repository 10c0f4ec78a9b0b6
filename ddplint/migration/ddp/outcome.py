"""What a migration comes to: done, done with points for the author to look at, or refused with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ddplint.findings import Edit
from ddplint.migration.errors import CannotMigrate
from ddplint.semantics import Expression
from ddplint.source import Position


class Outcome(Enum):
    """The three ways in which a migration can end; none of them leaves half of it behind."""

    DONE = "done"
    NOTES = "done with review notes"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence for the author, and the place that it speaks of."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class Refusal:
    """The condition that is not proven, the place where it fails, and what the author can do about it."""

    reason: str
    remedy: str
    position: Position


@dataclass(frozen=True, slots=True)
class Change:
    """Edits of one kind, and what they are for."""

    reason: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of a whole script with the points to look at, or the refusal."""

    changes: tuple[Change, ...] = ()
    notes: tuple[Remark, ...] = ()
    refusal: Refusal | None = None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits: they apply whole or not at all."""
        return tuple(edit for change in self.changes for edit in change.edits)

    @property
    def outcome(self) -> Outcome:
        if self.refusal is not None:
            return Outcome.REFUSED
        return Outcome.NOTES if self.notes else Outcome.DONE


class Refused(CannotMigrate):
    """A condition of the migration is not proven. ``at``: where; None speaks of the DataParallel itself."""

    def __init__(self, reason: str, at: Expression | None = None, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at
        self.remedy = remedy
