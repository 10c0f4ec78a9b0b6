from __future__ import annotations

import pytest

from ddplint.engine.outcomes import Failed, Report, RuleDefect, Skipped
from ddplint.findings import Impact, Place
from ddplint.reporting.github import render_github
from ddplint.source import Position
from tests.unit.reporting.builders import finding, place, report


@pytest.mark.parametrize(
    ("run", "line"),
    [
        pytest.param(
            report(finding()),
            "::error file=train.py,line=4,col=1,endColumn=6,title=DDP202 missing-set-epoch::Same order.",
            id="a finding within one line has columns",
        ),
        pytest.param(
            report(finding(at=Place("train.py", Position(4, 1), Position(6, 2)))),
            "::error file=train.py,line=4,endLine=6,title=DDP202 missing-set-epoch::Same order.",
            id="a finding over several lines has none",
        ),
        pytest.param(
            report(finding(message="50% done:\r\nyes, so")),
            r"::error file=train.py,line=4,col=1,endColumn=6,title=DDP202 missing-set-epoch::50%25 done:\r%0Ayes, so",
            id="a message escapes per cents and newlines, but no colons or commas",
        ),
        pytest.param(
            report(finding(at=place("50%/a,b:c\nd.py"))),
            r"::error file=50%25/a%2Cb%3Ac\nd.py,line=4,col=1,endColumn=6,title=DDP202 missing-set-epoch::Same order.",
            id="a path escapes per cents, commas and colons, and shows its newline",
        ),
        pytest.param(
            report(finding(related=(place("data.py", 12, note="sampler built here"),))),
            "::error file=train.py,line=4,col=1,endColumn=6,title=DDP202 missing-set-epoch"
            "::Same order.%0Asampler built here: data.py:12:1",
            id="related places close the message",
        ),
        pytest.param(
            report(finding(message="x\n::stop-commands::token")),
            "::error file=train.py,line=4,col=1,endColumn=6,title=DDP202 missing-set-epoch::x%0A::stop-commands::token",
            id="a message cannot start a command of its own",
        ),
        pytest.param(
            report(others=(Skipped("big.py", "larger than 4 MB"),)),
            "::notice file=big.py,title=ddplint skipped this file::larger than 4 MB",
            id="a skipped file is a notice",
        ),
        pytest.param(
            report(others=(Failed("latin.py", "not UTF-8", ours=False),)),
            "::error file=latin.py,title=ddplint could not lint this file::not UTF-8",
            id="a failed file is an error",
        ),
        pytest.param(
            report(defects=(RuleDefect("DDP401", "a.py", "KeyError: 'x'"),)),
            "::error file=a.py,title=defect in rule DDP401::KeyError: 'x'",
            id="a rule defect is an error",
        ),
    ],
)
def test_commands(run: Report, line: str) -> None:
    assert render_github(run) == f"{line}\n"


@pytest.mark.parametrize(
    ("impact", "command"),
    [
        pytest.param(Impact.CRASH, "error", id="a crash is an error"),
        pytest.param(Impact.HANG, "error", id="a hang is an error"),
        pytest.param(Impact.WRONG, "error", id="wrong numbers are an error"),
        pytest.param(Impact.SLOW, "warning", id="a slow script is a warning"),
        pytest.param(Impact.DEPRECATED, "warning", id="a deprecated call is a warning"),
        pytest.param(Impact.NOISE, "notice", id="noise is a notice"),
    ],
)
def test_impacts_choose_the_command(impact: Impact, command: str) -> None:
    assert render_github(report(finding(impact=impact))).startswith(f"::{command} ")


def test_a_clean_run_says_nothing() -> None:
    assert render_github(report()) == ""
