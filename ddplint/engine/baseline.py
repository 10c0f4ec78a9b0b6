"""The baseline: findings that a project knows and has put off, so that a run shows only what is new.

A finding is recognised by its file, its code and the text of its line, not by the number of the line: what moves stays
known. Of several equal ones, as many are known as were put off.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ddplint.engine.outcomes import Linted, Report
from ddplint.errors import PathError, SettingError
from ddplint.findings import Finding

DEFAULT_NAME = ".ddplint-baseline.json"
VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class KnownFinding:
    """What a finding is recognised by; ``path`` is relative to the folder of the baseline."""

    path: str
    code: str
    line: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings of a file, and how often each was put off."""

    file: Path
    known: Mapping[KnownFinding, int] = field(default_factory=dict)

    def without_known(self, report: Report, cwd: Path) -> Report:
        """Return the report with the known findings left out, and counted."""
        left = Counter(self.known)
        outcomes = [
            self._new_of(outcome, cwd, left) if isinstance(outcome, Linted) else outcome for outcome in report.outcomes
        ]
        return replace(report, outcomes=tuple(outcomes))

    def updated(self, report: Report, cwd: Path) -> Baseline:
        """Return the baseline with all findings of a report; what it knows of files that did not run is kept."""
        ran = {self._name(outcome.path, cwd) for outcome in report.linted}
        kept = {
            known: count
            for known, count in self.known.items()
            if known.path not in ran and (self.file.parent / known.path).exists()
        }
        found = Counter(self._recognised(finding, cwd) for finding in report.findings)
        return Baseline(self.file, {**kept, **found})

    def lost(self, newer: Baseline) -> list[KnownFinding]:
        """Return what is in this baseline more often than in a newer one: it has been mended, or its line changed."""
        return sorted(known for known, count in self.known.items() if newer.known.get(known, 0) < count)

    def save(self) -> None:
        """Write the file; raises PathError when that can't be done."""
        try:
            self.file.write_text(self.text(), "utf-8")
        except OSError as error:
            raise PathError(f"cannot write {self.file}: {error.strerror or error}") from None

    def text(self) -> str:
        """Return the file's content: sorted, a finding a line, so that a change of it can be reviewed."""
        entries = [
            json.dumps({"path": known.path, "code": known.code, "line": known.line, "count": count})
            for known, count in sorted(self.known.items())
        ]
        listed = ",\n".join(f"    {entry}" for entry in entries)
        return f'{{\n  "version": {VERSION},\n  "findings": [\n{listed}\n  ]\n}}\n'

    def _new_of(self, outcome: Linted, cwd: Path, left: Counter[KnownFinding]) -> Linted:
        new = []
        for finding in sorted(outcome.findings, key=lambda one: one.sort_key):
            known = self._recognised(finding, cwd)
            if left[known] > 0:
                left[known] -= 1
            else:
                new.append(finding)
        return replace(outcome, findings=tuple(new), known=len(outcome.findings) - len(new))

    def _recognised(self, finding: Finding, cwd: Path) -> KnownFinding:
        return KnownFinding(self._name(finding.path, cwd), finding.code, finding.place.excerpt.strip())

    def _name(self, shown: str, cwd: Path) -> str:
        path, folder = (cwd / shown).resolve(), self.file.parent.resolve()
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


def load_baseline(file: Path) -> Baseline:
    """Read a baseline; a file that is not there is an empty one.

    Raises SettingError for a file that is no baseline, PathError for one that can't be read.
    """
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return Baseline(file)
    except OSError as error:
        raise PathError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingError(f"{file}: not UTF-8") from None
    try:
        return Baseline(file, dict(_entries(json.loads(text))))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SettingError(f"{file}: is no baseline of this version; write it anew with --update-baseline") from None


def _entries(content: Any) -> Iterable[tuple[KnownFinding, int]]:
    if content["version"] != VERSION:
        raise ValueError("another version")
    for entry in content["findings"]:
        yield KnownFinding(str(entry["path"]), str(entry["code"]), str(entry["line"])), int(entry["count"])
