"""The rules that a symptom leads to, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddplint.reporting.escape import visible
from ddplint.reporting.style import Paint, Style

if TYPE_CHECKING:
    from ddplint.rulekit.symptoms import Match

_MOST = 8


def render_matches(matches: Sequence[Match], *, color: bool = False) -> str:
    """Return a block for each rule: its code, its summary, and the symptom that was recognised."""
    style = Style(color)
    blocks = []
    for match in matches[:_MOST]:
        rule = match.rule.rule
        head = style.paint(Paint.BOLD, f"{rule.code} {rule.name}")
        blocks.append(f"{head}: {visible(match.rule.documentation.summary)}\n  symptom: {visible(match.symptom)}\n")
    more = f"{len(matches) - _MOST} more are less likely.\n" if len(matches) > _MOST else ""
    codes = " ".join(match.rule.rule.code for match in matches[:3])
    return "".join(blocks) + more + f"To read on: ddplint explain {codes}\nTo look for them: ddplint check PATH\n"
