"""The report as workflow commands of GitHub Actions, which show it as annotations on the changed lines."""

from __future__ import annotations

from ddplint.engine.outcomes import Failed, Report, RuleDefect, Skipped
from ddplint.findings import Finding
from ddplint.reporting.escape import visible, visible_text
from ddplint.reporting.severity import SEVERITY, Severity

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(report: Report) -> str:
    """Return one workflow command a line: findings first, then files that were not linted, then rule defects."""
    lines = [_finding(finding) for finding in report.findings]
    lines += [_skipped(outcome) for outcome in report.skipped]
    lines += [_failed(outcome) for outcome in report.failed]
    lines += [_defect(defect) for defect in report.defects]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    start, end = finding.place.start, finding.place.end
    properties = {"file": finding.path, "line": str(start.line)}
    if start.line == end.line:  # an annotation knows columns only within one line
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    else:
        properties["endLine"] = str(end.line)
    properties["title"] = f"{finding.code} {finding.name}"
    related = [f"{place.note}: {place.path}:{place.start.line}:{place.start.column}" for place in finding.related]
    return _command(_COMMAND[SEVERITY[finding.impact]], properties, "\n".join([finding.message, *related]))


def _skipped(outcome: Skipped) -> str:
    return _command("notice", {"file": outcome.path, "title": "ddplint skipped this file"}, outcome.reason)


def _failed(outcome: Failed) -> str:
    return _command("error", {"file": outcome.path, "title": "ddplint could not lint this file"}, outcome.reason)


def _defect(defect: RuleDefect) -> str:
    return _command("error", {"file": defect.path, "title": f"defect in rule {defect.rule}"}, defect.detail)


def _command(command: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {listed}::{_data(visible_text(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(visible(value)).replace(":", "%3A").replace(",", "%2C")
