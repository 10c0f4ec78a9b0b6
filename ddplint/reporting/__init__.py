"""Findings in, characters out: one file a format.

What explains and lists rules is imported from its own modules, ``explain`` and ``rules_table``.
"""

from __future__ import annotations

from ddplint.reporting.escape import visible
from ddplint.reporting.render import Format, render
from ddplint.reporting.statistics import render_statistics
from ddplint.reporting.totals import render_totals

__all__ = [
    "Format",
    "render",
    "render_statistics",
    "render_totals",
    "visible",
]
