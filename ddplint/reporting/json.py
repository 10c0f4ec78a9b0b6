"""The report for programs; ``docs/json.md`` documents it.

Keys are stable within a version: later releases may add keys, and raise ``VERSION`` before they take one away or
change what it means. The text is ASCII, so that no terminal or pipe can spoil it.
"""

from __future__ import annotations

import json
from typing import Any

from ddplint import __version__
from ddplint.engine.outcomes import Report
from ddplint.findings import Edit, Finding, Fix, Place, Verdict
from ddplint.source import Position

VERSION = 1


def render_json(report: Report, run: dict[str, Any] | None = None) -> str:
    """Return the report as JSON; ``run`` is what there is to say of a traced run."""
    return dumps(
        {
            "findings": [_finding(finding) for finding in report.findings],
            "files": {
                "linted": len(report.linted),
                "skipped": [{"path": outcome.path, "reason": outcome.reason} for outcome in report.skipped],
                "failed": _failed(report),
            },
            **({} if run is None else {"run": run}),
        }
    )


def dumps(content: dict[str, Any]) -> str:
    """Return ``content`` as a document that names its version and ours."""
    return json.dumps({"version": VERSION, "ddplint": __version__, **content}, indent=2) + "\n"


def _failed(report: Report) -> list[dict[str, Any]]:
    whole = [
        {"path": outcome.path, "rule": None, "reason": outcome.reason, "defect": outcome.ours}
        for outcome in report.failed
    ]
    return whole + [
        {"path": defect.path, "rule": defect.rule, "reason": defect.detail, "defect": True} for defect in report.defects
    ]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **_place(finding.place),
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "impact": finding.impact.value,
        "confidence": finding.confidence.value,
        "related": [{**_place(place), "message": place.note} for place in finding.related],
        "fix": _fix(finding.fix) if finding.fix else None,
        "verdict": _verdict(finding.verdict) if finding.verdict else None,
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": place.path,
        "line": place.start.line,
        "column": place.start.column,
        "end_line": place.end.line,
        "end_column": place.end.column,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "path": edit.path,
        "start": _position(edit.start),
        "end": _position(edit.end),
        "content": edit.content,
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {"status": verdict.status.value, "summary": verdict.summary, "evidence": list(verdict.evidence)}
