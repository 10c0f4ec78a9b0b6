"""Findings in, characters out: one file a format."""

from __future__ import annotations

from ddplint.reporting.escape import visible
from ddplint.reporting.explain import render_explanation
from ddplint.reporting.render import Format, render
from ddplint.reporting.rules_table import render_rules, render_rules_json, with_rules_table
from ddplint.reporting.statistics import render_statistics
from ddplint.reporting.totals import render_totals

__all__ = [
    "Format",
    "render",
    "render_explanation",
    "render_rules",
    "render_rules_json",
    "render_statistics",
    "render_totals",
    "visible",
    "with_rules_table",
]
