"""What a report says beside findings: files that were skipped or failed, and rules that broke their promise."""

from __future__ import annotations

import platform

from ddplint import __version__
from ddplint.engine.outcomes import Failed, Report, RuleDefect, Skipped
from ddplint.reporting.escape import visible, visible_text
from ddplint.reporting.style import Paint, Style


def notices(report: Report, style: Style) -> list[str]:
    """Return a line for each skipped or failed file, some for each rule defect, and how to report our mistakes."""
    lines = [_skipped(outcome, style) for outcome in report.skipped]
    lines += [_failed(outcome, style) for outcome in report.failed]
    for defect in report.defects:
        lines += _defect(defect, style)
    if our_fault(report):
        lines.append(_appeal(report))
    return lines


def our_fault(report: Report) -> bool:
    """Whether something in the run broke that is not the user's to mend."""
    return bool(report.defects) or any(outcome.ours for outcome in report.failed)


def _skipped(outcome: Skipped, style: Style) -> str:
    return f"{style.paint(Paint.YELLOW, 'skipped')} {visible(outcome.path)}: {visible(outcome.reason)}"


def _failed(outcome: Failed, style: Style) -> str:
    whose = " (a defect of ddplint)" if outcome.ours else ""
    return f"{style.paint(Paint.RED, 'failed')} {visible(outcome.path)}: {visible(outcome.reason)}{whose}"


def _defect(defect: RuleDefect, style: Style) -> list[str]:
    first, *more = visible_text(defect.detail.rstrip("\n")).split("\n")
    head = f"{style.paint(Paint.RED, 'defect')} in rule {visible(defect.rule)} on {visible(defect.path)}: {first}"
    return [head, *(f"  | {line}" for line in more)]


def _appeal(report: Report) -> str:
    whom = "the authors of the rule" if report.defects else "the authors of ddplint"
    version = f"ddplint {__version__}, Python {platform.python_version()}"
    return (
        f"This is not a mistake in your code. Please report it to {whom} with the lines above, "
        f"the versions ({version}) and, if you may share it, the file."
    )
