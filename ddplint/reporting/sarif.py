"""The report as SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ddplint import __version__
from ddplint.engine.outcomes import Failed, Report, RuleDefect, Skipped
from ddplint.findings import Edit, Finding, Fix, Place
from ddplint.reporting.escape import visible_text
from ddplint.reporting.markdown import documentation_markdown
from ddplint.reporting.notices import our_fault
from ddplint.reporting.severity import SEVERITY
from ddplint.source import Position

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"  # the name by which consumers know it
_DRIVE = re.compile(r"[A-Za-z]:/")
_NO_RULE = -1  # SARIF's way to say that a result's rule is not in the list


def render_sarif(report: Report, rules: Iterable[RegisteredRule]) -> str:
    """Return the report as a SARIF log of one run; ``rules`` are those whose findings may be in it."""
    listed = tuple(rules)
    index = {registered.rule.code: number for number, registered in enumerate(listed)}
    run = {
        "tool": {"driver": _driver(listed)},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder in which ddplint was started."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index.get(finding.code, _NO_RULE)) for finding in report.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _driver(rules: Sequence[RegisteredRule]) -> dict[str, Any]:
    return {
        "name": "ddplint",
        "version": __version__,
        "semanticVersion": __version__,
        "shortDescription": {"text": "Linter for PyTorch multi-GPU training scripts."},
        "rules": [_rule(registered) for registered in rules],
    }


def _rule(registered: RegisteredRule) -> dict[str, Any]:
    rule, documentation = registered.rule, registered.documentation
    descriptor = {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "defaultConfiguration": {"level": SEVERITY[rule.impact].value},
        "properties": {"tags": ["pytorch", "distributed", rule.impact.value], "since": rule.since},
    }
    if documentation.summary:
        markdown = documentation_markdown(documentation)
        descriptor["shortDescription"] = {"text": documentation.summary}
        descriptor["fullDescription"] = {"text": documentation.sections["What it finds"]}
        descriptor["help"] = {"text": markdown, "markdown": markdown}
    return descriptor


def _invocation(report: Report) -> dict[str, Any]:
    notifications = [_failed(outcome) for outcome in report.failed]
    notifications += [_skipped(outcome) for outcome in report.skipped]
    notifications += [_defect(defect) for defect in report.defects]
    return {"executionSuccessful": not our_fault(report), "toolExecutionNotifications": notifications}


def _failed(outcome: Failed) -> dict[str, Any]:
    return _notification("error", outcome.path, f"This file could not be linted: {outcome.reason}")


def _skipped(outcome: Skipped) -> dict[str, Any]:
    return _notification("note", outcome.path, f"This file was skipped: {outcome.reason}")


def _defect(defect: RuleDefect) -> dict[str, Any]:
    notification = _notification("error", defect.path, f"Rule {defect.rule} broke its promise: {defect.detail}")
    return notification | {"associatedRule": {"id": defect.rule}}


def _notification(level: str, path: str, text: str) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": visible_text(text)},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": SEVERITY[finding.impact].value,
        "message": {"text": visible_text(finding.message)},
        "locations": [_location(finding.place)],
        "properties": {"impact": finding.impact.value, "confidence": finding.confidence.value},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_location(place), "message": {"text": visible_text(place.note)}}
            for number, place in enumerate(finding.related, 1)
        ]
    if finding.fix:
        result["fixes"] = [_fix(finding.fix)]
        result["properties"]["applicability"] = finding.fix.applicability.value
    if finding.verdict:
        result["properties"]["verdict"] = {
            "status": finding.verdict.status.value,
            "summary": visible_text(finding.verdict.summary),
            "evidence": [visible_text(line) for line in finding.verdict.evidence],
        }
    return result


def _location(place: Place) -> dict[str, Any]:
    return {
        "physicalLocation": {"artifactLocation": _artifact(place.path), "region": _region(place.start, place.end)},
    }


def _region(start: Position, end: Position) -> dict[str, int]:
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}


def _fix(fix: Fix) -> dict[str, Any]:
    by_path = groupby(sorted(fix.edits), key=lambda edit: edit.path)
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": [_replacement(edit) for edit in edits]}
            for path, edits in by_path
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    replacement: dict[str, Any] = {"deletedRegion": _region(edit.start, edit.end)}
    if edit.content:
        replacement["insertedContent"] = {"text": edit.content}
    return replacement


def _artifact(path: str) -> dict[str, str]:
    """Return where a file is: below the working directory when its path is relative, else by an absolute URI."""
    quoted = quote(path.encode("utf-8", "surrogateescape"))
    if path.startswith("/"):
        return {"uri": f"file://{quoted}"}
    if _DRIVE.match(path):
        return {"uri": f"file:///{quoted.replace('%3A', ':', 1)}"}
    return {"uri": quoted, "uriBaseId": _ROOT}
