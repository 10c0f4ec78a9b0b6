"""What the doctor says of a machine, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from ddplint import __version__
from ddplint.doctor import Asked, Examination, Facts, Result, Status
from ddplint.reporting.escape import visible
from ddplint.reporting.json import dumps
from ddplint.reporting.sarif import SCHEMA
from ddplint.reporting.style import Paint, Style

_PAINTS = {Status.FAIL: Paint.RED, Status.WARN: Paint.YELLOW, Status.UNKNOWN: Paint.CYAN, Status.OK: Paint.GREEN}
_LEVELS = {Status.FAIL: "error", Status.WARN: "warning", Status.UNKNOWN: "note"}
_WIDTH = 110
_INDENT = " " * 36


def render_examination(found: Examination, facts: Facts, *, color: bool = False) -> str:
    """Return the results as a table; what is not right comes first, with what it should be and what helps."""
    style = Style(color)
    lines = [line for result in found.results for line in _rows(result, style)]
    lines += ["", _machine(facts), _counts(found)]
    if found.not_asked:
        lines.append(f"nothing to ask here: {', '.join(found.not_asked)}")
    return "".join(f"{line}\n" for line in lines)


def _rows(result: Result, style: Style) -> list[str]:
    verdict = result.verdict
    status = style.paint(_PAINTS[verdict.status], f"{verdict.status.value:<7}")
    first, *more = textwrap.wrap(visible(verdict.read), _WIDTH - len(_INDENT)) or [""]
    rows = [f"{status} {result.code} {result.name:<20} {first}", *(f"{_INDENT}{line}" for line in more)]
    if verdict.status is not Status.OK:
        parts = [("should be", verdict.should), ("what helps", verdict.remedy), ("shown by", result.command)]
        rows += [f"{_INDENT}{name}: {visible(text)}" for name, text in parts if text]
    return rows


def _machine(facts: Facts) -> str:
    version, gpus = facts.text("torch.version"), facts.gpus
    cards = f"{len(gpus)} x {gpus[0].text('name')}" if gpus else "no GPU"
    return visible(
        f"{facts.text('host.name')}: {cards}, {facts.number('host.usable_cores')} cores, "
        f"{'torch ' + version if version else 'no torch'}, {facts.text('python.executable')}"
    )


def _counts(found: Examination) -> str:
    numbers = {status: sum(result.verdict.status is status for result in found.results) for status in Status}
    return ", ".join(f"{number} {status.value}" for status, number in numbers.items() if number)


def render_examination_json(found: Examination, facts: Facts) -> str:
    """Return the results and the facts as JSON; ``docs/doctor.md`` documents it."""
    results = [
        {
            "code": result.code,
            "name": result.name,
            "status": result.verdict.status.value,
            "read": result.verdict.read,
            "should": result.verdict.should,
            "remedy": result.verdict.remedy,
            "command": result.command,
        }
        for result in found.results
    ]
    return dumps({"results": results, "not_asked": list(found.not_asked), "facts": dict(facts.tree)})


def render_examination_sarif(found: Examination, asked: Asked) -> str:
    """Return what is not right as a SARIF log; it is located at the script that the machine was examined for."""
    bad = [result for result in found.results if result.verdict.status is not Status.OK]
    rules = [{"id": result.code, "name": result.name} for result in sorted(bad, key=lambda result: result.code)]
    driver = {"name": "ddplint doctor", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": [_sarif(result, asked) for result in bad]}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif(result: Result, asked: Asked) -> dict[str, Any]:
    verdict = result.verdict
    texts = [verdict.read, verdict.should and f"should be: {verdict.should}", verdict.remedy]
    content: dict[str, Any] = {
        "ruleId": result.code,
        "level": _LEVELS[verdict.status],
        "message": {"text": visible("; ".join(text for text in texts if text))},
    }
    if asked.needs.script is not None:
        content["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": asked.needs.script}}}]
    return content
