"""Findings that are left as they are: each gets a suppression comment, and files are linted again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ddplint.engine.outcomes import Failed, Report
from ddplint.engine.run import Linter, lint_texts
from ddplint.errors import SourceError
from ddplint.fixes import write_atomically
from ddplint.fixes.ignores import with_ignores
from ddplint.source import SourceFile, read_source


def add_ignores(linter: Linter, report: Report, jobs: int) -> Report:
    """Write a comment for each finding of a report, and return the report of what no comment could be written for."""
    from ddplint.edits import breakage  # imports libcst

    changed: dict[str, SourceFile] = {}
    for path, findings in groupby(report.findings, key=lambda finding: finding.path):
        with suppress(SourceError):  # its findings stay
            source = read_source(Path(path), path)
            text = with_ignores(source, findings)
            if text != source.text and breakage(source, text) is None:
                changed[path] = replace(source, text=text)
    refused = {path: failed for path, source in changed.items() if (failed := _written(source)) is not None}
    again = lint_texts(linter, {path: source for path, source in changed.items() if path not in refused}, jobs)
    outcomes = (again.get(outcome.path, refused.get(outcome.path, outcome)) for outcome in report.outcomes)
    return replace(report, outcomes=tuple(outcomes))


def _written(source: SourceFile) -> Failed | None:
    """Write a file; return why that can't be done."""
    try:
        write_atomically(Path(source.path), source.encode(source.text))
    except SourceError as error:
        return Failed(source.path, str(error), ours=False)
    return None
