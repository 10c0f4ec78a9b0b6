from __future__ import annotations

import pytest

from ddplint.engine.outcomes import Failed, Linted, Report, RuleDefect, Skipped
from ddplint.findings import Applicability, Impact
from ddplint.reporting.totals import render_totals
from tests.unit.reporting.builders import finding, fix, place, report

SAFE, UNSAFE = fix(), fix(Applicability.UNSAFE)
CLEAN = Linted("clean.py")
BROKEN = Failed("latin.py", "not UTF-8", ours=False)
BIG = Skipped("big.py", "larger than 4 MB")


@pytest.mark.parametrize(
    ("run", "line"),
    [
        pytest.param(report(), "All clear: no findings in 1 file", id="a clean run"),
        pytest.param(
            report(others=(CLEAN,), hidden=2),
            "All clear: no findings in 2 files; 2 possible with --pedantic",
            id="a clean run that kept something back",
        ),
        pytest.param(Report(()), "No Python files found", id="nothing to lint"),
        pytest.param(
            Report((BIG,)), "No findings in 0 files; 1 file skipped", id="everything skipped is not all clear"
        ),
        pytest.param(
            report(others=(BROKEN,)), "No findings in 1 file; 1 file failed", id="a failed file is not all clear"
        ),
        pytest.param(
            report(defects=(RuleDefect("DDP202", "train.py", "KeyError"),)),
            "No findings in 1 file; 1 rule defect",
            id="a rule defect is not all clear",
        ),
        pytest.param(
            report(others=(BIG,)),
            "All clear: no findings in 1 file; 1 file skipped",
            id="a skipped file beside a clean one",
        ),
        pytest.param(
            report(
                finding(impact=Impact.WRONG),
                finding(impact=Impact.CRASH),
                finding(impact=Impact.WRONG),
                others=(CLEAN,),
            ),
            "Found 3 findings (1 crash, 2 wrong) in 1 of 2 files",
            id="impacts are counted, the worst first",
        ),
        pytest.param(report(finding()), "Found 1 finding (1 wrong) in 1 of 1 file", id="one is not many"),
        pytest.param(
            report(finding(fix=SAFE), finding(fix=UNSAFE), finding(), hidden=1),
            "Found 3 findings (3 wrong) in 1 of 1 file; 1 fixable with --fix; 1 more with --unsafe-fixes; "
            "1 more possible with --pedantic",
            id="fixes of both kinds and what was kept back",
        ),
        pytest.param(
            report(finding(fix=UNSAFE)),
            "Found 1 finding (1 wrong) in 1 of 1 file; 1 fixable with --unsafe-fixes",
            id="only unsafe fixes",
        ),
    ],
)
def test_one_line_of_totals(run: Report, line: str) -> None:
    assert render_totals(run) == f"{line}\n"


@pytest.mark.parametrize(
    ("dry_run", "line"),
    [
        pytest.param(False, "Fixed 3 findings in 2 files.", id="after the files were written"),
        pytest.param(True, "Would fix 3 findings in 2 files.", id="when only a patch was printed"),
    ],
)
def test_what_was_fixed_stands_before_what_remains(dry_run: bool, line: str) -> None:
    run = Report((CLEAN,), fixed=(finding(), finding(), finding(at=place("b.py"))), dry_run=dry_run)
    assert render_totals(run) == f"{line}\nAll clear: no findings in 1 file\n"
