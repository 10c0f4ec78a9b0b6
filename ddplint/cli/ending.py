"""The end of ``ddplint check``: the report, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ddplint.cli.check import Options
from ddplint.cli.output import Output
from ddplint.engine.baseline import Baseline
from ddplint.engine.outcomes import Report


@dataclass(frozen=True, slots=True)
class Ending:
    """What decides which findings are shown and which make a run fail."""

    options: Options
    fail_on: tuple[str, ...]
    baseline: Baseline
    output: Output

    def conclude(self, report: Report, stream: TextIO) -> int:
        """Show what the baseline does not know, and return the exit code for it."""
        report = report.without_findings() if self.options.fix_only else report
        report = self.baseline.without_known(report, Path.cwd())
        self.output.show(report, stream)
        return report.exit_code(self.options.exit_zero, self.fail_on)
