"""What ``ddplint check`` does with fixes: writes them, or shows them as a patch. Only runs with fixes import this."""

from __future__ import annotations

import sys
from dataclasses import replace

from ddplint.cli.check import Options
from ddplint.cli.ending import Ending
from ddplint.engine.fix import Fixed, FixPolicy, fix, fixable_sources, patch, write
from ddplint.engine.outcomes import Report
from ddplint.engine.run import Linter
from ddplint.source import SourceFile


def fix_files(options: Options, linter: Linter, report: Report, ending: Ending) -> int:
    """Fix the files of a report, or show how, and return the exit code."""
    policy = FixPolicy.of(linter, options.unsafe_fixes)
    fixed = fix(linter, report, policy, fixable_sources(report, policy), options.most_jobs)
    if options.diff:
        return _show_patch(options, fixed, ending)
    return ending.conclude(write(fixed), sys.stdout)


def fix_stdin(options: Options, linter: Linter, report: Report, data: bytes, ending: Ending) -> int:
    """Fix standard input, which held ``data``, or show how, and return the exit code."""
    # Only what was linted has findings, so it can be decoded.
    sources = {finding.path: SourceFile.from_bytes(data, finding.path) for finding in report.findings[:1]}
    fixed = fix(linter, report, FixPolicy.of(linter, options.unsafe_fixes), sources)
    if options.diff:
        return _show_patch(options, fixed, ending)
    texts = [change.source.encode(change.text) for change in fixed.changes]
    _write_bytes(texts[0] if texts else data)
    return ending.conclude(fixed.report, sys.stderr)


def _show_patch(options: Options, fixed: Fixed, ending: Ending) -> int:
    """Print the fixes as a patch; the report goes elsewhere, so that the patch can be piped."""
    _write_bytes(patch(fixed))
    code = ending.conclude(replace(fixed.report, dry_run=True), sys.stderr)
    return max(code, int(bool(fixed.changes) and not options.exit_zero))


def _write_bytes(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
