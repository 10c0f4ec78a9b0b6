"""Files with expectations in them, and whether these come true."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from ddplint.findings import Applicability, Finding
from ddplint.rulekit.documentation import marks, without_marks
from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing.bench import Observed, observe

# A file, a line and a code.
Mark: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True)
class Trial:
    """Files in which the lines that must be found end in ``#~ DDPnnn``, and what the fixes must make of the files.

    ``rule`` runs alone; None means that all rules run. ``fixed`` holds the files that the fixes must change, byte for
    byte; what cannot be fixed is marked there too. ``pack`` names a rule pack that is not installed.
    """

    title: str
    rule: RegisteredRule | None
    files: Mapping[str, str]
    fixed: Mapping[str, str] = field(default_factory=dict)
    pack: str | None = None

    def __str__(self) -> str:
        return self.title

    @property
    def marks(self) -> list[Mark]:
        """What the files announce."""
        return _marks(self.files)

    @cached_property
    def observed(self) -> Observed:
        """What was said of the files and what the fixes made of them."""
        return observe(_clean(self.files), self.rule, self.pack)

    def problems(self) -> list[str]:
        """Return a sentence for each expectation that does not come true."""
        foreign = [f"{_at(mark)} belongs to another rule" for mark in self.marks if not self._speaks_of(mark)]
        return [
            *foreign,
            *self.observed.failures,
            *_compared(self.marks, self.observed.findings),
            *self._fix_problems(),
            *self._settled_problems(),
        ]

    @property
    def _repaired(self) -> dict[str, str]:
        """The files as the fixes must leave them, with the marks of what they leave unfixed."""
        return {**self.files, **self.fixed}

    def _speaks_of(self, mark: Mark) -> bool:
        return self.rule is None or self.rule.rule.code == mark[2]

    def _fix_problems(self) -> Iterator[str]:
        expected = _clean(self._repaired)
        for file in self.fixed:
            if self.observed.texts[file] == _clean(self.files)[file]:
                yield f"{file}: no fix changes it"
            elif self.observed.texts[file] != expected[file]:
                yield _difference(file, expected[file], self.observed.texts[file])
        for file in self.files.keys() - self.fixed.keys() if self.fixed else ():
            if self.observed.texts[file] != expected[file]:
                yield f"{file}: a fix changes it, and nothing says what it must become"
        best = self.rule.rule.applicability if self.rule is not None else None
        for finding in self.observed.findings:
            if finding.fix is not None and best is Applicability.UNSAFE is not finding.fix.applicability:
                yield f"{_at(_mark(finding))} has a safe fix, and its rule announces unsafe ones"

    def _settled_problems(self) -> Iterator[str]:
        """Once the fixes are made, only what is announced is left to say, and there is nothing more to fix."""
        before = _clean(self.files)
        after = _clean(self._repaired) if self.fixed else self.observed.texts
        if after == before:
            return
        again = observe(after, self.rule, self.pack)
        yield from (f"once fixed, {failure}" for failure in again.failures)
        if again.texts != after:
            yield "a second fix changes the fixed text"
        if self.fixed:
            left = _compared(_marks(self._repaired), again.findings)
            yield from (f"once fixed, {problem}" for problem in left)


def _marks(files: Mapping[str, str]) -> list[Mark]:
    return [(file, line, code) for file, text in files.items() for line, code in marks(text)]


def _clean(files: Mapping[str, str]) -> dict[str, str]:
    return {file: without_marks(text) for file, text in files.items()}


def _mark(finding: Finding) -> Mark:
    return finding.path, finding.place.start.line, finding.code


def _at(mark: Mark) -> str:
    file, line, code = mark
    return f"{file}:{line}: {code}"


def _compared(expected: Iterable[Mark], findings: Iterable[Finding]) -> Iterator[str]:
    missing = Counter(expected)
    for finding in findings:
        mark = _mark(finding)
        if missing[mark]:
            missing[mark] -= 1
        else:
            yield f"{_at(mark)} is said and not announced: {finding.message}"
    for mark in missing.elements():
        yield f"{_at(mark)} is announced and not said"


def _difference(file: str, expected: str, actual: str) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True), "announced", "made by the fix"
    )
    return f"{file}: the fix makes another text\n{''.join(lines)}"
