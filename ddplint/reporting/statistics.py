"""The findings counted by rule."""

from __future__ import annotations

from collections import Counter

from ddplint.engine.outcomes import Report
from ddplint.reporting.escape import visible
from ddplint.reporting.notices import notices
from ddplint.reporting.style import Paint, Style
from ddplint.reporting.totals import render_totals


def render_statistics(report: Report, *, color: bool = False) -> str:
    """Return a line a rule, the most frequent first: count, code, name and how many of them have a fix.

    Files that were not linted, rule defects and the totals follow, as in the text report.
    """
    style = Style(color)
    found = Counter((visible(finding.code), visible(finding.name)) for finding in report.findings)
    fixable = Counter((visible(finding.code), visible(finding.name)) for finding in report.findings if finding.fix)
    rows = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    digits = max((len(str(count)) for count in found.values()), default=0)
    longest = max((len(name) for _, name in found), default=0)
    lines = []
    for (code, name), count in rows:
        last = f"{name:<{longest}}  {fixable[code, name]} fixable" if fixable[code, name] else name
        lines.append(f"{count:>{digits}}  {style.paint(Paint.BOLD, code)}  {last}")
    parts = ["".join(f"{line}\n" for line in block) for block in (lines, notices(report, style)) if block]
    return "\n".join([*parts, render_totals(report, color=color)])
