"""What a report says of its outcomes."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from ddplint.engine.outcomes import Failed, Linted, Outcome, Report, RuleDefect, Skipped
from ddplint.findings import Confidence, Finding, Impact, Place
from ddplint.source import Position


def a_finding(path: str = "a.py", line: int = 1, code: str = "DDP101") -> Finding:
    place = Place(path, Position(line, 1), Position(line, 2))
    return Finding(code, "a-name", Impact.SLOW, Confidence.LIKELY, "message", place, (line, line))


DEFECT = RuleDefect("DDP101", "a.py", "it raised")


@pytest.mark.parametrize(
    ("report", "code", "with_exit_zero"),
    [
        pytest.param(Report(()), 0, 0, id="no file"),
        pytest.param(Report((Linted("a.py"),)), 0, 0, id="a clean file"),
        pytest.param(Report((Linted("a.py", (a_finding(),)),)), 1, 0, id="a finding"),
        pytest.param(Report((Skipped("a.py", "too large"),)), 0, 0, id="a skipped file"),
        pytest.param(Report((Failed("a.py", "no text", ours=False),)), 1, 0, id="a file that cannot be read"),
        pytest.param(Report((Failed("a.py", "crashed", ours=True),)), 3, 3, id="a worker that died"),
        pytest.param(Report((Linted("a.py", (a_finding(),), (DEFECT,)),)), 3, 3, id="a rule that raised"),
        pytest.param(Report((Linted("a.py"),), fix_defects=(DEFECT,)), 3, 3, id="a fix that broke its promise"),
        pytest.param(Report((Linted("a.py"),), fixed=(a_finding(),)), 0, 0, id="all fixed"),
    ],
)
def test_exit_codes(report: Report, code: int, with_exit_zero: int) -> None:
    assert (report.exit_code(), report.exit_code(exit_zero=True)) == (code, with_exit_zero)


def test_findings_come_by_file_place_and_code() -> None:
    in_order = [
        a_finding("a.py", 2, "DDP202"),
        a_finding("a.py", 10),
        a_finding("b.py", 1),
        a_finding("b.py", 1, "DDP102"),
    ]
    linted = (Linted("b.py", (in_order[3], in_order[2])), Linted("a.py", (in_order[1], in_order[0])))
    assert list(Report(linted).findings) == in_order


def test_outcomes_are_told_apart() -> None:
    outcomes: tuple[Outcome, ...] = (
        Linted("a.py", hidden=2),
        Skipped("b.py", "too large"),
        Failed("c.py", "no text", ours=False),
        Linted("d.py", (), (DEFECT,), hidden=1),
    )
    report = Report(outcomes, fix_defects=(replace(DEFECT, path="e.py"),))
    assert [outcome.path for outcome in report.linted] == ["a.py", "d.py"]
    assert [outcome.path for outcome in report.skipped] == ["b.py"]
    assert [outcome.path for outcome in report.failed] == ["c.py"]
    assert [defect.path for defect in report.defects] == ["a.py", "e.py"]
    assert report.hidden == 3


def test_without_findings_keeps_all_else() -> None:
    report = Report((Linted("a.py", (a_finding(),), (DEFECT,)), Skipped("b.py", "too large")), fixed=(a_finding(),))
    bare = report.without_findings()
    assert bare.findings == ()
    assert (bare.fixed, bare.defects, bare.skipped) == (report.fixed, report.defects, report.skipped)


def test_outcomes_travel_between_processes() -> None:
    report = Report((Linted("a.py", (a_finding(),), (DEFECT,)), Failed("c.py", "no text", ours=False)))
    assert pickle.loads(pickle.dumps(report)) == report
