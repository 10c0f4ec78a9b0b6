from __future__ import annotations

import pytest

from ddplint.engine.outcomes import Failed, Report, RuleDefect, Skipped
from ddplint.findings import Applicability, Confidence, Finding, Status, Verdict
from ddplint.reporting.text import render_text
from tests.unit.reporting.builders import finding, fix, place, report

BUILT = place("data.py", 12, (11, 32), "sampler = DistributedSampler(data)", "sampler built here")


@pytest.mark.parametrize(
    ("found", "paragraph"),
    [
        pytest.param(
            finding(at=place(line=4, columns=(5, 10), text="for epoch in range(9):")),
            [
                "train.py:4:5: DDP202 [missing-set-epoch] Same order.",
                "  4 | for epoch in range(9):",
                "    |     ^^^^^",
            ],
            id="place, code, name, message and a frame",
        ),
        pytest.param(
            finding(related=(BUILT,), at=place(text="train(loader)")),
            [
                "train.py:4:1: DDP202 [missing-set-epoch] Same order.",
                "   4 | train(loader)",
                "     | ^^^^^",
                "  sampler built here: data.py:12:11",
                "  12 | sampler = DistributedSampler(data)",
                "     |           ^^^^^^^^^^^^^^^^^^^^^",
            ],
            id="a related place has its own frame, and line numbers are aligned",
        ),
        pytest.param(
            finding(at=place(text="")),
            ["train.py:4:1: DDP202 [missing-set-epoch] Same order."],
            id="a place without a line has no frame",
        ),
        pytest.param(
            finding(at=place(text=""), message="one\ntwo", fix=fix()),
            ["train.py:4:1: DDP202 [missing-set-epoch] one", "  | two [fixable]"],
            id="further lines of a message stand behind a bar",
        ),
        pytest.param(
            finding(at=place("a\nb.py:1:1: DDP999", text="")),
            [r"a\nb.py:1:1: DDP999:4:1: DDP202 [missing-set-epoch] Same order."],
            id="a file name cannot forge a line of the report",
        ),
        pytest.param(
            finding(at=place(text=""), verdict=Verdict(Status.CONFIRMED, "the order was equal", ("rank 0: 3 1 2",))),
            [
                "train.py:4:1: DDP202 [missing-set-epoch] Same order.",
                "  verdict: confirmed: the order was equal",
                "    - rank 0: 3 1 2",
            ],
            id="a verdict says its reason and shows what proves it",
        ),
    ],
)
def test_a_finding_is_a_paragraph(found: Finding, paragraph: list[str]) -> None:
    assert render_text(report(found)).split("\n\n")[0].rstrip("\n").split("\n") == paragraph


@pytest.mark.parametrize(
    ("found", "end"),
    [
        pytest.param(finding(), "order.", id="nothing to say about a likely finding without a fix"),
        pytest.param(finding(fix=fix()), "order. [fixable]", id="a safe fix"),
        pytest.param(
            finding(fix=fix(Applicability.UNSAFE)),
            "order. [fixable with --unsafe-fixes]",
            id="a fix that the author has to agree with",
        ),
        pytest.param(
            finding(confidence=Confidence.POSSIBLE, fix=fix()),
            "order. [possible] [fixable]",
            id="a finding that --pedantic brought",
        ),
    ],
)
def test_tags_close_the_message(found: Finding, end: str) -> None:
    assert render_text(report(found)).split("\n")[0].endswith(end)


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        pytest.param(
            report(others=(Skipped("big.py", "larger than 4 MB"),)),
            ["skipped big.py: larger than 4 MB"],
            id="a skipped file",
        ),
        pytest.param(
            report(others=(Failed("latin.py", "not UTF-8", ours=False),)),
            ["failed latin.py: not UTF-8"],
            id="a file that cannot be read",
        ),
        pytest.param(
            report(others=(Skipped("\x1b]0;x\x07.py", "a\nb"),)),
            [r"skipped \x1b]0;x\x07.py: a\nb"],
            id="a path and a reason that hold escapes",
        ),
    ],
)
def test_a_file_that_was_not_linted_is_one_line(run: Report, lines: list[str]) -> None:
    assert render_text(run).split("\n\n")[0].rstrip("\n").split("\n") == lines


@pytest.mark.parametrize(
    ("run", "said", "whom"),
    [
        pytest.param(
            report(others=(Failed("a.py", "the worker died", ours=True),)),
            "failed a.py: the worker died (a defect of ddplint)\n",
            "the authors of ddplint",
            id="a worker that died",
        ),
        pytest.param(
            report(defects=(RuleDefect("DDP202", "a.py", "KeyError: 'x'\n  line 3\n"),)),
            "defect in rule DDP202 on a.py: KeyError: 'x'\n  |   line 3\n",
            "the authors of the rule",
            id="a rule that raised",
        ),
    ],
)
def test_our_mistakes_come_with_whom_to_tell_and_what(run: Report, said: str, whom: str) -> None:
    text = render_text(run)
    assert text.startswith(said)
    appeal = text.removeprefix(said).split("\n")[0]
    assert appeal.startswith(f"This is not a mistake in your code. Please report it to {whom}")
    assert "ddplint 0." in appeal
    assert "Python 3." in appeal


def test_findings_stand_in_order_and_the_totals_are_the_last_line() -> None:
    late, early = finding(at=place("b.py")), finding(at=place("a.py", 9))
    text = render_text(report(late, early, hidden=3))
    assert text.index("a.py:9:1") < text.index("b.py:4:1")
    assert text.endswith("\n\nFound 2 findings (2 wrong) in 2 of 2 files; 3 more possible with --pedantic\n")


def test_colour_is_there_only_when_asked_for() -> None:
    run = report(finding(fix=fix(), related=(BUILT,)))
    assert "\x1b[" not in render_text(run)
    assert "\x1b[1mtrain.py:4:1\x1b[0m: \x1b[31mDDP202\x1b[0m" in render_text(run, color=True)
