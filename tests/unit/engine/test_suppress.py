"""Which suppression comment covers which finding, and what is said of the comments."""

from __future__ import annotations

import pytest

from ddplint.engine.suppress import Suppressions
from ddplint.findings import Confidence, Finding, Impact, Place
from ddplint.rulekit import SuppressionReport
from ddplint.source import Position, SourceFile, find_suppressions
from tests.unit.engine.rules import a_rule

RULES = (
    a_rule("DDP000", check_unparsable=lambda _source, _failure: ()),
    a_rule("DDP001", check_suppressions=lambda _report: ()),
    a_rule("DDP101"),
    a_rule("DDP202"),
)
RAN = frozenset({"DDP000", "DDP101", "DDP202"})


def a_finding(code: str, first: int, last: int | None = None) -> Finding:
    place = Place("a.py", Position(first, 1), Position(first, 2))
    return Finding(code, "a-name", Impact.SLOW, Confidence.LIKELY, "message", place, (first, last or first))


def judge(text: str, *findings: Finding, ran: frozenset[str] = RAN) -> tuple[list[tuple[str, int]], SuppressionReport]:
    """What remains of the findings, as (code, line), and the report on the comments."""
    source = SourceFile("a.py", text)
    suppressions = Suppressions(source, find_suppressions(source), RULES)
    remaining = suppressions.remaining(findings)
    return [(finding.code, finding.place.start.line) for finding in remaining], suppressions.report(ran)


def unused(report: SuppressionReport) -> list[tuple[int, str | None]]:
    return [(comment.line, None if code is None else code.text) for comment, code in report.unused]


HERE = a_finding("DDP101", 2)
MULTI = a_finding("DDP101", 1, 3)


@pytest.mark.parametrize(
    ("text", "finding", "covered"),
    [
        pytest.param("\nf()  # ddplint: ignore[DDP101]\n", HERE, True, id="a code on the line"),
        pytest.param("\nf()  # ddplint: ignore[rule-101] as it must be\n", HERE, True, id="a name on the line"),
        pytest.param("\nf()  # ddplint: ignore[ddp101]\n", HERE, True, id="a code in small letters"),
        pytest.param("\nf()  # ddplint: ignore[DDP202, DDP101]\n", HERE, True, id="one of two codes"),
        pytest.param("\nf()  # ddplint: ignore\n", HERE, True, id="everything"),
        pytest.param("\nf()  # noqa: DDP101\n", HERE, True, id="a noqa with the code"),
        pytest.param("\nf()  # noqa\n", HERE, True, id="a bare noqa"),
        pytest.param("\nf()  # noqa: E501\n", HERE, False, id="a noqa for another tool"),
        pytest.param("\nf()  # ddplint: ignore[DDP202]\n", HERE, False, id="another code"),
        pytest.param("f()  # ddplint: ignore[DDP101]\ng()\n", HERE, False, id="the line before"),
        pytest.param("f(  # ddplint: ignore[DDP101]\n    1,\n)\n", MULTI, True, id="the first line of a statement"),
        pytest.param("f(\n    1,  # ddplint: ignore[DDP101]\n)\n", MULTI, True, id="a line inside a statement"),
        pytest.param("f(\n    1,\n)  # ddplint: ignore[DDP101]\n", MULTI, True, id="the last line of a statement"),
        pytest.param("f(\n    1,\n)\ng()  # ddplint: ignore[DDP101]\n", MULTI, False, id="the next statement"),
        pytest.param("f()\ng()\n# ddplint: ignore-file[DDP101]\n", HERE, True, id="the whole file"),
        pytest.param("f()\ng()\n# ddplint: ignore-file[DDP202]\n", HERE, False, id="the whole file for another code"),
        pytest.param("f()\ng()\n# ddplint: ignore-file\n", HERE, True, id="the whole file for everything"),
    ],
)
def test_what_a_comment_covers(text: str, finding: Finding, covered: bool) -> None:
    remaining, _ = judge(text, finding)
    assert (remaining == []) is covered


@pytest.mark.parametrize(
    ("text", "findings", "ran", "expected"),
    [
        pytest.param("f()  # ddplint: ignore[DDP101]\n", [], RAN, [(1, "DDP101")], id="a code without a finding"),
        pytest.param(
            "f()  # ddplint: ignore[DDP101, rule-202]\n",
            [a_finding("DDP101", 1)],
            RAN,
            [(1, "rule-202")],
            id="one of two",
        ),
        pytest.param("f()  # ddplint: ignore\n", [], RAN, [(1, None)], id="a bare comment without a finding"),
        pytest.param("f()  # noqa: DDP101\n", [], RAN, [(1, "DDP101")], id="a noqa with our code"),
        pytest.param("f()  # noqa\n", [], RAN, [], id="a bare noqa speaks to other tools too"),
        pytest.param("f()  # noqa: E501\n", [], RAN, [], id="a noqa for another tool"),
        pytest.param("f()  # ddplint: ignore[DDP101]\n", [], RAN - {"DDP101"}, [], id="a rule that did not run"),
        pytest.param("f()  # ddplint: ignore\n", [], RAN - {"DDP101"}, [], id="a bare comment, and not all rules ran"),
        pytest.param("# ddplint: ignore-file[DDP202]\n", [], RAN, [(1, "DDP202")], id="a code for a whole file"),
        pytest.param("# ddplint: ignore-file\n", [], RAN, [], id="a file that is left alone"),
        pytest.param("f()  # ddplint: ignore[DDP001]\n", [], RAN, [], id="what speaks of comments is not judged"),
        pytest.param("f()  # ddplint: ignore[DDP999]\n", [], RAN, [], id="an unknown code is reported as such"),
        pytest.param(
            "f()  # ddplint: ignore[DDP101]\n# ddplint: ignore-file[DDP101]\n",
            [a_finding("DDP101", 1)],
            RAN,
            [],
            id="two comments cover one finding",
        ),
    ],
)
def test_which_comments_are_unused(
    text: str, findings: list[Finding], ran: frozenset[str], expected: list[tuple[int, str | None]]
) -> None:
    _, report = judge(text, *findings, ran=ran)
    assert unused(report) == expected


def test_codes_that_name_no_rule() -> None:
    _, report = judge("f()  # ddplint: ignore[DDP102, DDP101, no-rule]\ng()  # noqa: DDP999\n")
    assert [(comment.line, code.text) for comment, code in report.unknown] == [
        (1, "DDP102"),
        (1, "no-rule"),
        (2, "DDP999"),
    ]
    assert {"DDP101", "rule-101"} <= set(report.known)


def test_comments_that_cannot_be_read() -> None:
    remaining, report = judge("f()  # ddplint: ignore[DDP101\n", a_finding("DDP101", 1))
    assert remaining == [("DDP101", 1)]
    assert [comment.line for comment in report.malformed] == [1]


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        pytest.param("f()  # ddplint: ignore[DDP202, DDP001]\n", False, id="a comment cannot speak for itself"),
        pytest.param("f()  # ddplint: ignore\n", False, id="nor can a bare one"),
        pytest.param("# ddplint: ignore-file[DDP001]\n", True, id="the whole file"),
        pytest.param("# ddplint: ignore-file\n", True, id="the whole file for everything"),
    ],
)
def test_what_covers_findings_about_comments(text: str, covered: bool) -> None:
    source = SourceFile("a.py", text)
    suppressions = Suppressions(source, find_suppressions(source), RULES)
    assert (suppressions.remaining_about_comments([a_finding("DDP001", 1)]) == []) is covered
