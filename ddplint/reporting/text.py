"""The report for people: a paragraph for each finding, then files that were not linted, then the totals."""

from __future__ import annotations

from ddplint.engine.outcomes import Report
from ddplint.findings import Applicability, Confidence, Finding, Place, Status, Verdict
from ddplint.reporting.escape import visible, visible_text
from ddplint.reporting.frame import code_frame
from ddplint.reporting.notices import notices
from ddplint.reporting.severity import SEVERITY, Severity
from ddplint.reporting.style import Paint, Style
from ddplint.reporting.totals import render_totals

_LOUD = {Severity.ERROR: Paint.RED, Severity.WARNING: Paint.YELLOW, Severity.NOTE: Paint.CYAN}
_VERDICTS = {
    Status.CONFIRMED: Paint.RED,
    Status.REFUTED: Paint.GREEN,
    Status.NOT_EXERCISED: Paint.DIM,
    Status.COULD_NOT_RUN: Paint.YELLOW,
}
_FIXABLE = {Applicability.SAFE: "[fixable]", Applicability.UNSAFE: "[fixable with --unsafe-fixes]"}


def render_text(report: Report, *, color: bool = False) -> str:
    """Return the report as text; without colour it holds no control character but newlines."""
    style = Style(color)
    paragraphs = ["\n".join(_finding(finding, style)) + "\n" for finding in report.findings]
    said = notices(report, style)
    if said:
        paragraphs.append("\n".join(said) + "\n")
    paragraphs.append(render_totals(report, color=color))
    return "\n".join(paragraphs)


def _finding(finding: Finding, style: Style) -> list[str]:
    loud = _LOUD[SEVERITY[finding.impact]]
    gutter = max(len(str(place.start.line)) for place in (finding.place, *finding.related))
    first, *more = visible_text(finding.message).split("\n")
    where = style.paint(Paint.BOLD, _where(finding.place))
    code = style.paint(loud, visible(finding.code))
    lines = [f"{where}: {code} [{visible(finding.name)}] {first}", *(f"  | {line}" for line in more)]
    lines[-1] += _tags(finding, style)
    lines += _frame(finding.place, gutter, style, loud)
    for place in finding.related:
        lines.append(f"  {visible(place.note)}: {_where(place)}")
        lines += _frame(place, gutter, style, Paint.CYAN)
    if finding.verdict:
        lines += _verdict(finding.verdict, style)
    return lines


def _where(place: Place) -> str:
    return f"{visible(place.path)}:{place.start.line}:{place.start.column}"


def _tags(finding: Finding, style: Style) -> str:
    tags = " [possible]" if finding.confidence is Confidence.POSSIBLE else ""
    if finding.fix:
        tags += f" {style.paint(Paint.GREEN, _FIXABLE[finding.fix.applicability])}"
    return tags


def _frame(place: Place, gutter: int, style: Style, loud: Paint) -> list[str]:
    if not place.excerpt.strip():
        return []
    line, carets = code_frame(place)
    number, bar = style.paint(Paint.DIM, f"{place.start.line:>{gutter}} |"), style.paint(Paint.DIM, f"{'':>{gutter}} |")
    indent = len(carets) - len(carets.lstrip())
    return [f"  {number} {line}", f"  {bar} {carets[:indent]}{style.paint(loud, carets[indent:])}"]


def _verdict(verdict: Verdict, style: Style) -> list[str]:
    status = style.paint(_VERDICTS[verdict.status], verdict.status.value.replace("_", " "))
    summary = f": {visible(verdict.summary)}" if verdict.summary else ""
    return [f"  verdict: {status}{summary}", *(f"    - {visible(event)}" for event in verdict.evidence)]
