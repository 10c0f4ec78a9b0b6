from __future__ import annotations

from ddplint.engine.outcomes import Skipped
from ddplint.findings import Impact
from ddplint.reporting.statistics import render_statistics
from tests.unit.reporting.builders import finding, fix, report

PORT = finding("DDP401", "hardcoded-port", Impact.CRASH)


def test_rules_are_counted_the_most_frequent_first() -> None:
    run = report(
        *[PORT] * 2,
        *[finding(fix=fix())] * 10,
        finding(),
        finding("DDP101", "data-parallel"),
        finding("DDP101", "data-parallel"),
    )
    assert render_statistics(run).split("\n\n")[0].split("\n") == [
        "11  DDP202  missing-set-epoch  10 fixable",
        " 2  DDP101  data-parallel",
        " 2  DDP401  hardcoded-port",
    ]


def test_skipped_files_and_totals_follow() -> None:
    run = report(PORT, others=(Skipped("big.py", "larger than 4 MB"),), hidden=1)
    assert render_statistics(run).split("\n") == [
        "1  DDP401  hardcoded-port",
        "",
        "skipped big.py: larger than 4 MB",
        "",
        "Found 1 finding (1 crash) in 1 of 1 file; 1 file skipped; 1 more possible with --pedantic",
        "",
    ]


def test_a_clean_run_has_its_totals_only() -> None:
    assert render_statistics(report()) == "All clear: no findings in 1 file\n"


def test_codes_are_bold_when_colour_is_asked_for() -> None:
    assert "\x1b[1mDDP401\x1b[0m" in render_statistics(report(PORT), color=True)
