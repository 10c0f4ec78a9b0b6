"""Fixes made in rounds, until nothing is left to fix."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from ddplint.findings import Finding, Fix
from ddplint.fixes.plan import plan_round
from ddplint.fixes.trial import Lint, State, Trial, try_fixes
from ddplint.source import SourceFile

MAX_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class DefectReport:
    """A fix that broke its promise and was not made: the rules behind it, the file, and what went wrong."""

    codes: tuple[str, ...]
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of all rounds: the new text of each file that changed, and what was found on the way."""

    texts: Mapping[str, str]
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    defects: tuple[DefectReport, ...]


def settle(sources: Mapping[str, SourceFile], lint: Lint, allowed: Callable[[Finding], bool]) -> Settled:
    """Make every allowed fix, round by round, without writing anything.

    ``lint`` gets files by path and returns the findings of each; a file that it leaves out could not be linted. It is
    handed every file that differs from the disk or has findings, so that rules see the project as it will be.

    A fix that breaks the file, does not remove its finding or brings a new one of impact crash, hang or wrong is not
    made and becomes a defect report; the others go on. A fix that edits files outside ``sources`` is left alone.
    """
    run = _Run(sources, lint)
    for _ in range(MAX_ROUNDS):
        if not run.advance(allowed):
            break
    return run.settled()


class _Run:
    """The state of the files between rounds."""

    def __init__(self, sources: Mapping[str, SourceFile], lint: Lint) -> None:
        self._originals = sources
        self._lint = lint
        self._state = State(sources, lint(sources))
        self._fixed: list[Finding] = []
        self._defects: list[DefectReport] = []
        self._banned: set[Hashable] = set()

    def advance(self, allowed: Callable[[Finding], bool]) -> bool:
        """Go one round; return whether there was anything to do."""
        findings = [finding for found in self._state.findings.values() for finding in found]
        fixes = [
            ((finding.sort_key, number), finding.fix)
            for number, finding in enumerate(findings)
            if finding.fix is not None and self._is_open(finding, finding.fix) and allowed(finding)
        ]
        chosen = [findings[number] for (_, number), _ in plan_round(fixes)]
        made, self._state = self._make(chosen, [], self._state)
        self._fixed += made
        return bool(chosen)

    def settled(self) -> Settled:
        texts = {path: source.text for path, source in self._state.sources.items() if self._is_changed(path)}
        remaining = [finding for found in self._state.findings.values() for finding in found]
        remaining.sort(key=lambda finding: finding.sort_key)
        return Settled(texts, tuple(self._fixed), tuple(remaining), tuple(self._defects))

    def _make(self, fixes: Sequence[Finding], made: list[Finding], after: State) -> tuple[list[Finding], State]:
        """Make fixes on top of those made in this round, halving their number until the guilty ones are found."""
        if not fixes:
            return made, after
        trial = self._try([*made, *fixes])
        if trial.complaint is None:
            return [*made, *fixes], trial.state
        if len(fixes) > 1:
            half = len(fixes) // 2
            made, after = self._make(fixes[:half], made, after)
            return self._make(fixes[half:], made, after)
        # A fix that is good by itself only came too early: it waits for the next round.
        complaint = self._try(fixes).complaint if made else trial.complaint
        if complaint is not None:
            self._banned.add(_identity(fixes[0]))
            self._defects.append(DefectReport((fixes[0].code,), fixes[0].path, complaint))
        return made, after

    def _try(self, findings: Sequence[Finding]) -> Trial:
        state = self._state
        watched = (path for path in state.sources if state.findings.get(path) or self._is_changed(path))
        return try_fixes(state, findings, frozenset(watched), self._lint)

    def _is_changed(self, path: str) -> bool:
        return self._state.sources[path].text != self._originals[path].text

    def _is_open(self, finding: Finding, fix: Fix) -> bool:
        return _identity(finding) not in self._banned and all(edit.path in self._originals for edit in fix.edits)


def _identity(finding: Finding) -> Hashable:
    """What a finding is known by when the lines above it have moved."""
    contents = () if finding.fix is None else tuple(edit.content for edit in finding.fix.edits)
    return finding.path, finding.code, finding.message, finding.place.excerpt, contents
