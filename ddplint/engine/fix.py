"""Fixes of a whole run: which are allowed, what the files become, and what is left to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ddplint.engine.outcomes import Failed, Linted, Outcome, Report, RuleDefect
from ddplint.engine.run import Linter, lint_texts
from ddplint.errors import SourceError
from ddplint.findings import Applicability, Finding
from ddplint.fixes import diff, settle, write_atomically
from ddplint.source import SourceFile, read_source


@dataclass(frozen=True, slots=True)
class FixPolicy:
    """Which findings may be fixed: those of the rules ``codes``, with safe fixes or also with ``unsafe`` ones."""

    codes: frozenset[str]
    unsafe: bool

    @classmethod
    def of(cls, linter: Linter, unsafe: bool) -> FixPolicy:
        """Return the policy that the settings of a run lay down."""
        return cls(linter.fixable, unsafe)

    def allows(self, finding: Finding) -> bool:
        if finding.fix is None or finding.code not in self.codes:
            return False
        return self.unsafe or finding.fix.applicability is Applicability.SAFE


@dataclass(frozen=True, slots=True)
class Change:
    """A file and the text that its fixes make of it."""

    source: SourceFile
    text: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """The report before and after the fixes, and the changes that they make; nothing is written yet."""

    before: Report
    report: Report
    changes: tuple[Change, ...] = ()


def fix(linter: Linter, report: Report, policy: FixPolicy, sources: Mapping[str, SourceFile], jobs: int = 1) -> Fixed:
    """Fix what the policy allows in ``sources``; a fix that reaches into other files is not made."""

    def allowed(finding: Finding) -> bool:
        return policy.allows(finding) and _touched(finding) <= sources.keys()

    if not any(allowed(finding) for finding in report.findings):
        return Fixed(report, report)
    lint = _Lint(linter, report, sources, jobs)
    settled = settle(sources, lint, allowed)
    texts = {path: settled.texts.get(path, source.text) for path, source in sources.items()}
    changes = tuple(Change(sources[path], text) for path, text in texts.items() if text != sources[path].text)
    linted = {path: lint.outcome(path, text, settled.remaining) for path, text in texts.items()}
    defects = tuple(RuleDefect(",".join(defect.codes), defect.path, defect.why) for defect in settled.defects)
    return Fixed(report, Report(_replaced(report.outcomes, linted), settled.fixed, defects), changes)


class _Lint:
    """Lints texts on the way to the final ones, and remembers the outcome of each."""

    def __init__(self, linter: Linter, report: Report, sources: Mapping[str, SourceFile], jobs: int) -> None:
        self._linter = linter
        self._jobs = jobs
        self._sources = sources
        self._outcomes = {
            (outcome.path, sources[outcome.path].text): outcome for outcome in report.linted if outcome.path in sources
        }

    def __call__(self, texts: Mapping[str, SourceFile]) -> dict[str, tuple[Finding, ...]]:
        """Return the findings of each text that can be linted."""
        linted = self._reported(texts)
        asked = {path: source for path, source in texts.items() if path not in linted}
        for path, outcome in lint_texts(self._linter, asked, self._jobs).items():
            if isinstance(outcome, Linted):
                linted[path] = self._outcomes[path, texts[path].text] = outcome
        return {path: outcome.findings for path, outcome in linted.items()}

    def _reported(self, texts: Mapping[str, SourceFile]) -> dict[str, Linted]:
        """What the report knows: all but the files that nobody named, as long as nothing has changed."""
        if any(source.text != self._sources[path].text for path, source in texts.items()):
            return {}
        known = {path: self._outcomes.get((path, source.text)) for path, source in texts.items()}
        return {path: outcome for path, outcome in known.items() if outcome is not None}

    def outcome(self, path: str, text: str, remaining: Iterable[Finding]) -> Linted:
        """Return the outcome of a text that was linted, with what remains of its findings."""
        findings = tuple(finding for finding in remaining if finding.path == path)
        return replace(self._outcomes.get((path, text), Linted(path)), findings=findings)


def fixable_sources(report: Report, policy: FixPolicy) -> dict[str, SourceFile]:
    """Read every file that an allowed fix of the report touches; those that cannot be read are left out."""
    allowed = [finding for finding in report.findings if policy.allows(finding)]
    sources = {}
    for path in sorted(frozenset[str]().union(*map(_touched, allowed))):
        with suppress(SourceError):  # its fixes are then not made, and its findings stay
            sources[path] = read_source(Path(path), path)
    return sources


def patch(fixed: Fixed) -> bytes:
    """Return the changes as a patch that ``git apply`` takes."""
    return b"".join(diff(change.source, change.text) for change in fixed.changes)


def write(fixed: Fixed) -> Report:
    """Write the changes; the findings of a file that cannot be written stay, and it counts as failed."""
    refused = {}
    for change in fixed.changes:
        path = change.source.path
        try:
            write_atomically(Path(path), change.source.encode(change.text))
        except SourceError as error:
            refused[path] = Failed(path, str(error), ours=False)
    if not refused:
        return fixed.report
    kept = {outcome.path: outcome for outcome in fixed.before.outcomes if outcome.path in refused}
    outcomes = (*_replaced(fixed.report.outcomes, kept), *refused.values())
    fixes = tuple(finding for finding in fixed.report.fixed if finding.path not in refused)
    return Report(outcomes, fixes, fixed.report.fix_defects)


def _touched(finding: Finding) -> frozenset[str]:
    """The files that the fix of a finding changes, and its own."""
    edits = finding.fix.edits if finding.fix else ()
    return frozenset({finding.path, *(edit.path for edit in edits)})


def _replaced(outcomes: tuple[Outcome, ...], others: Mapping[str, Outcome]) -> tuple[Outcome, ...]:
    return tuple(others.get(outcome.path, outcome) for outcome in outcomes)
