"""``ddplint -``: one file from standard input. Its fixed text goes to standard output, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

from ddplint.cli.check import Options
from ddplint.cli.linting import conclude, show_patch
from ddplint.cli.output import Output
from ddplint.engine.fix import Fixed, FixPolicy, fix
from ddplint.engine.outcomes import Linted, Report
from ddplint.engine.run import Linter
from ddplint.source import SourceFile, discover, shown_path

NAMELESS = "<stdin>"


def check_stdin(options: Options, linter: Linter, policy: FixPolicy, output: Output) -> int:
    """Lint or fix standard input and return the exit code."""
    data = sys.stdin.buffer.read()
    path = Path(options.stdin_filename or NAMELESS)
    shown = shown_path(path, Path.cwd())
    report = Report(() if _is_excluded(path, linter) else (linter.lint_bytes(path, shown, data),))
    if not options.fixes:
        output.show(report, sys.stdout)
        return report.exit_code(options.exit_zero)
    fixed = _fixed(linter, report, policy, data)
    if options.diff:
        return show_patch(options, fixed, output)
    text = [change.source.encode(change.text) for change in fixed.changes]
    sys.stdout.buffer.write(text[0] if text else data)
    sys.stdout.buffer.flush()
    return conclude(options, fixed.report, output, to_stderr=True)


def _fixed(linter: Linter, report: Report, policy: FixPolicy, data: bytes) -> Fixed:
    if not report.findings:
        return Fixed(report, report)
    # Only a file that was linted has findings, so it can be decoded.
    [shown] = [outcome.path for outcome in report.outcomes if isinstance(outcome, Linted)]
    return fix(linter, report, policy, {shown: SourceFile.from_bytes(data, shown)})


def _is_excluded(path: Path, linter: Linter) -> bool:
    """Whether the file of that name is excluded, which counts only with --force-exclude."""
    if not (linter.settings.force_exclude and path.exists()):
        return False
    return not discover((path,), linter.settings, Path.cwd()).files
