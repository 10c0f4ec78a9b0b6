"""``ddplint -``: one file from standard input. Its fixed text goes to standard output, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

from ddplint.engine.outcomes import Report
from ddplint.engine.run import Linter
from ddplint.source import discover, shown_path

NAMELESS = "<stdin>"


def lint_stdin(name: str | None, linter: Linter) -> tuple[Report, bytes]:
    """Lint standard input as the file ``name``; return the report and what was read."""
    data = sys.stdin.buffer.read()
    path = Path(name or NAMELESS)
    if _is_excluded(path, linter):
        return Report(()), data
    assignment = linter.assign(path, shown_path(path, Path.cwd()), data)
    return Report((linter.lint(assignment),)), data


def _is_excluded(path: Path, linter: Linter) -> bool:
    """Whether the file of that name is excluded, which counts only with --force-exclude."""
    if not (linter.settings.force_exclude and path.exists()):
        return False
    return not discover((path,), linter.settings, Path.cwd()).files
