"""The last line of a report: how many findings, what they cost, and which of them can be fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ddplint.engine.outcomes import Report
from ddplint.findings import Applicability, Finding, Impact
from ddplint.reporting.style import Paint, Style


def render_totals(report: Report, *, color: bool = False) -> str:
    """Return the totals of a run: what was fixed (or, after a dry run, would be) and what remains."""
    style = Style(color)
    lines = []
    if report.fixed:
        verb = "Would fix" if report.dry_run else "Fixed"
        files = len({finding.path for finding in report.fixed})
        lines.append(f"{verb} {counted(len(report.fixed), 'finding')} in {counted(files, 'file')}.")
    findings = report.findings
    parts = [_headline(report, style), *_fixable(findings), *_incomplete(report)]
    if report.known:
        parts.append(f"{report.known} in the baseline")
    if report.hidden:
        parts.append(f"{report.hidden} {'more ' if findings else ''}possible with --pedantic")
    lines.append("; ".join(parts))
    return "\n".join(lines) + "\n"


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: ``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _headline(report: Report, style: Style) -> str:
    files = len(report.linted)
    findings = report.findings
    if findings:
        impacts = Counter(finding.impact for finding in findings)
        costs = ", ".join(f"{impacts[impact]} {impact.value}" for impact in Impact if impacts[impact])
        touched = len({finding.path for finding in findings})
        found = style.paint(Paint.BOLD, f"Found {counted(len(findings), 'finding')}")
        return f"{found} ({costs}) in {touched} of {counted(files, 'file')}"
    if not report.outcomes:
        return "No Python files found"
    if report.failed or report.defects or not files:
        return f"No findings in {counted(files, 'file')}"
    return f"{style.paint(Paint.GREEN, 'All clear')}: no findings in {counted(files, 'file')}"


def _fixable(findings: Sequence[Finding]) -> list[str]:
    promises = Counter(finding.fix.applicability for finding in findings if finding.fix)
    safe, unsafe = promises[Applicability.SAFE], promises[Applicability.UNSAFE]
    parts = [f"{safe} fixable with --fix"] if safe else []
    if unsafe:
        parts.append(f"{unsafe} {'more' if safe else 'fixable'} with --unsafe-fixes")
    return parts


def _incomplete(report: Report) -> list[str]:
    parts = [f"{counted(len(report.skipped), 'file')} skipped"] if report.skipped else []
    if report.failed:
        parts.append(f"{counted(len(report.failed), 'file')} failed")
    if report.defects:
        parts.append(counted(len(report.defects), "rule defect"))
    return parts
