"""One door to all formats."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.engine.outcomes import Report

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
    # A run needs one format; the others are not imported for it.
    if output is Format.JSON:
        from ddplint.reporting.json import render_json

        return render_json(report)
    if output is Format.GITHUB:
        from ddplint.reporting.github import render_github

        return render_github(report)
    if output is Format.SARIF:
        from ddplint.reporting.sarif import render_sarif

        return render_sarif(report, rules)
    from ddplint.reporting.text import render_text

    return render_text(report, color=color)
