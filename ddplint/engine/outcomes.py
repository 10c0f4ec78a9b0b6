"""What became of each file, as values: linted, skipped or failed, and the report that they make together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ddplint.findings import Finding


@dataclass(frozen=True, slots=True)
class RuleDefect:
    """A rule that broke its promise on one file: it raised, or its fix would have broken the file."""

    rule: str
    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class Linted:
    """A file that was linted, also when no word in it could make any rule speak.

    ``hidden`` counts the findings of confidence "possible" that the settings leave out, ``known`` those that the
    baseline knows.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    defects: tuple[RuleDefect, ...] = ()
    hidden: int = 0
    known: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not linted on purpose, with the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be linted, and whether that is our fault (a dead worker) or the file's (bad bytes)."""

    path: str
    reason: str
    ours: bool


Outcome: TypeAlias = Linted | Skipped | Failed


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of one run and, after a run with fixes, what was fixed and which fixes were held back.

    ``dry_run``: the fixes were only shown as a patch, so what is ``fixed`` here still is in the files.
    """

    outcomes: tuple[Outcome, ...]
    fixed: tuple[Finding, ...] = ()
    fix_defects: tuple[RuleDefect, ...] = ()
    dry_run: bool = False

    @property
    def linted(self) -> tuple[Linted, ...]:
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Linted))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Skipped))

    @property
    def failed(self) -> tuple[Failed, ...]:
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Failed))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings that remain, by file, place and code."""
        return sorted_findings([finding for outcome in self.linted for finding in outcome.findings])

    @property
    def hidden(self) -> int:
        return sum(outcome.hidden for outcome in self.linted)

    @property
    def known(self) -> int:
        return sum(outcome.known for outcome in self.linted)

    @property
    def defects(self) -> tuple[RuleDefect, ...]:
        return tuple(defect for outcome in self.linted for defect in outcome.defects) + self.fix_defects

    def without_findings(self) -> Report:
        """Return the report without the findings that remain."""
        outcomes = (
            replace(outcome, findings=()) if isinstance(outcome, Linted) else outcome for outcome in self.outcomes
        )
        return replace(self, outcomes=tuple(outcomes))

    def exit_code(self, exit_zero: bool = False, fail_on: Collection[str] = ()) -> int:
        """0 clean; 1 findings, or a file that cannot be read; 3 our defect, which ``exit_zero`` does not hide.

        ``fail_on`` are the impacts of findings that count; without any, all do.
        """
        if self.defects or any(outcome.ours for outcome in self.failed):
            return 3
        counting = [finding for finding in self.findings if not fail_on or finding.impact.value in fail_on]
        return int(bool(counting or self.failed) and not exit_zero)


def sorted_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return ``findings`` in the order of a report."""
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))
