"""One door to all formats."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.engine.outcomes import Report
from ddplint.reporting.github import render_github
from ddplint.reporting.json import render_json
from ddplint.reporting.sarif import render_sarif
from ddplint.reporting.text import render_text

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule


class Format(Enum):
    """The values of ``--format``."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def render(report: Report, output: Format, *, rules: Iterable[RegisteredRule], color: bool = False) -> str:
    """Return the report in a format.

    ``rules`` are those whose findings may be in the report. Only the text format knows colour.
    """
    if output is Format.JSON:
        return render_json(report)
    if output is Format.GITHUB:
        return render_github(report)
    if output is Format.SARIF:
        return render_sarif(report, rules)
    return render_text(report, color=color)
