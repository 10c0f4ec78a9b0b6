"""The rules as a table: in the README, on a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ddplint.errors import Defect
from ddplint.reporting.escape import visible
from ddplint.reporting.json import dumps
from ddplint.reporting.markdown import documentation_markdown
from ddplint.reporting.style import Paint, Style

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule

BEGIN = "<!-- rules: begin -->"
END = "<!-- rules: end -->"


def rules_markdown(rules: Iterable[RegisteredRule]) -> str:
    """Return the Markdown table of the rules."""
    lines = ["| Code | Name | Impact | Fix | What it finds |", "| --- | --- | --- | --- | --- |"]
    for registered in rules:
        code, name, impact, fix, summary = _row(registered)
        lines.append(f"| {code} | {name} | {impact} | {fix} | {summary.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def with_rules_table(document: str, rules: Iterable[RegisteredRule]) -> str:
    """Return ``document`` with the table of the rules between its two markers.

    Raises Defect when the document does not hold ``BEGIN`` and after it ``END``.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Defect(f"the table of the rules has no place: {BEGIN} and {END} are not there")
    return f"{before}{BEGIN}\n{rules_markdown(rules)}{END}{after}"


def render_rules(rules: Sequence[RegisteredRule], *, color: bool = False) -> str:
    """Return one line a rule: code, name, impact, fix and summary in columns."""
    style = Style(color)
    rows = [_row(registered) for registered in rules]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    lines = []
    for row in rows:
        code, *cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        lines.append("  ".join([style.paint(Paint.BOLD, code), *cells, row[-1]]).rstrip())
    return "".join(f"{line}\n" for line in lines)


def render_rules_json(rules: Iterable[RegisteredRule]) -> str:
    """Return the rules as JSON; ``docs/json.md`` documents it."""
    return dumps({"rules": [_content(registered) for registered in rules]})


def _row(registered: RegisteredRule) -> tuple[str, str, str, str, str]:
    rule = registered.rule
    fix = rule.applicability.value if rule.applicability else "-"
    return rule.code, rule.name, rule.impact.value, fix, visible(registered.documentation.summary)


def _content(registered: RegisteredRule) -> dict[str, Any]:
    rule, documentation = registered.rule, registered.documentation
    return {
        "code": rule.code,
        "name": rule.name,
        "impact": rule.impact.value,
        "fix": rule.applicability.value if rule.applicability else None,
        "since": rule.since,
        "torch": _version(rule.torch),
        "torch_before": _version(rule.torch_before),
        "summary": documentation.summary,
        "documentation": documentation_markdown(documentation),
    }


def _version(version: tuple[int, int] | None) -> str | None:
    return None if version is None else f"{version[0]}.{version[1]}"
