"""Which of two fixes has to wait, and what applying their edits makes of a text."""

from __future__ import annotations

import pytest

from ddplint.errors import Defect
from ddplint.findings import Applicability, Edit, Fix
from ddplint.fixes import apply, plan_round
from ddplint.source import Position, SourceFile


def edit(start: tuple[int, int], end: tuple[int, int], content: str, path: str = "a.py") -> Edit:
    return Edit(path, Position(*start), Position(*end), content)


def fix(*edits: Edit) -> Fix:
    return Fix(Applicability.SAFE, "", edits)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(edit((1, 1), (1, 4), "x"), edit((1, 3), (1, 6), "y"), id="stretches that overlap"),
        pytest.param(edit((1, 1), (9, 1), "x"), edit((2, 1), (2, 2), "y"), id="a stretch inside another"),
        pytest.param(edit((1, 1), (1, 4), "x"), edit((1, 1), (1, 4), "y"), id="different texts for one stretch"),
        pytest.param(edit((1, 1), (1, 4), "x"), edit((1, 2), (1, 2), "y"), id="an insertion inside a stretch"),
        pytest.param(edit((1, 2), (1, 4), "x"), edit((1, 4), (1, 4), "y"), id="an insertion where a stretch ends"),
        pytest.param(edit((1, 2), (1, 4), "x"), edit((1, 2), (1, 2), "y"), id="an insertion where a stretch starts"),
        pytest.param(edit((1, 2), (1, 2), "'x'"), edit((1, 2), (1, 2), "'y'"), id="two insertions at one point"),
        pytest.param(edit((2, 1), (2, 1), "x\n"), edit((2, 1), (2, 1), "  y\n"), id="lines of different blocks"),
        pytest.param(edit((2, 1), (2, 1), "x\n"), edit((2, 1), (2, 1), "y"), id="a line and a word at one point"),
        pytest.param(edit((1, 1), (2, 1), ""), edit((2, 1), (2, 1), "x\n"), id="a line after a removed one"),
    ],
)
def test_the_later_of_two_fixes_waits(first: Edit, second: Edit) -> None:
    assert plan_round([(("1",), fix(first)), (("2",), fix(second))]) == ((("1",), fix(first)),)
    assert plan_round([(("2",), fix(first)), (("1",), fix(second))]) == ((("1",), fix(second)),)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(edit((1, 1), (1, 2), "x"), edit((1, 2), (1, 3), "y"), id="stretches that touch"),
        pytest.param(edit((1, 1), (1, 2), "x"), edit((1, 1), (1, 2), "y", "b.py"), id="different files"),
        pytest.param(edit((1, 1), (1, 2), "x"), edit((1, 1), (1, 2), "x"), id="equal edits"),
        pytest.param(edit((2, 1), (2, 1), "x\n"), edit((2, 1), (2, 1), "y\n"), id="lines of one block at one point"),
        pytest.param(edit((2, 1), (2, 1), "\n\tx\n"), edit((2, 1), (2, 1), "\ty\n"), id="a blank line before them"),
        pytest.param(edit((1, 1), (1, 2), "x"), edit((1, 3), (1, 3), "y"), id="an insertion apart from a stretch"),
    ],
)
def test_both_fixes_are_chosen(first: Edit, second: Edit) -> None:
    fixes = [(("1",), fix(first)), (("2",), fix(second))]
    assert plan_round(fixes) == plan_round(fixes[::-1]) == tuple(fixes)


def test_a_fix_waits_whole_when_one_of_its_edits_has_to() -> None:
    first = fix(edit((1, 1), (1, 4), "x"))
    second = fix(edit((5, 1), (5, 4), "y"), edit((1, 2), (1, 3), "y"))
    third = fix(edit((5, 2), (5, 3), "z"))
    assert plan_round([((1,), first), ((2,), second), ((3,), third)]) == (((1,), first), ((3,), third))


def test_an_edit_that_is_shared_gets_in_nobodys_way() -> None:
    shared = edit((1, 1), (1, 1), "import os\n")
    first, second = fix(shared, edit((1, 1), (1, 4), "x")), fix(shared, edit((2, 1), (2, 4), "y"))
    assert plan_round([((1,), first), ((2,), second)]) == (((1,), first), ((2,), second))


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        pytest.param("abc", [edit((1, 3), (1, 4), "z"), edit((1, 1), (1, 2), "x")], "xbz", id="in any order"),
        pytest.param("abc", [edit((1, 2), (1, 2), "x")] * 2, "axbc", id="equal edits once"),
        pytest.param("ab", [edit((1, 2), (1, 2), "y"), edit((1, 2), (1, 2), "x")], "ayxb", id="insertions as given"),
        pytest.param(
            "ab", [edit((1, 1), (1, 2), "x"), edit((1, 1), (1, 1), "y")], "yxb", id="insertion before the rest"
        ),
        pytest.param(
            "ab", [edit((1, 2), (1, 2), "y"), edit((1, 1), (1, 2), "x")], "xyb", id="insertion after the rest"
        ),
        pytest.param("a\r\nb", [edit((1, 2), (2, 1), "")], "ab", id="a Windows newline"),
        pytest.param("é😀b", [edit((1, 3), (1, 4), "x")], "é😀x", id="columns count letters"),
        pytest.param("a\x0c\u2028b\n", [edit((1, 4), (1, 5), "x")], "a\x0c\u2028x\n", id="what ends no line"),
        pytest.param("a\n", [edit((2, 1), (2, 1), "x")], "a\nx", id="the end of the file"),
        pytest.param("", [edit((1, 1), (1, 1), "x")], "x", id="an empty file"),
        pytest.param("a\r\n", [], "a\r\n", id="no edit"),
    ],
)
def test_edits_are_made_and_nothing_else(text: str, edits: list[Edit], after: str) -> None:
    assert apply(SourceFile("a.py", text), edits) == after


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        pytest.param([edit((1, 1), (1, 3), ""), edit((1, 2), (1, 4), "")], "overlap", id="overlapping"),
        pytest.param([edit((1, 1), (1, 3), ""), edit((1, 2), (1, 2), "x")], "overlap", id="an insertion inside"),
        pytest.param([edit((1, 3), (1, 1), "")], "overlap", id="ends before it starts"),
        pytest.param([edit((1, 9), (1, 9), "")], "outside", id="a column that is not there"),
        pytest.param([edit((3, 1), (3, 1), "")], "outside", id="a line that is not there"),
    ],
)
def test_edits_that_make_no_sense_are_a_defect(edits: list[Edit], why: str) -> None:
    with pytest.raises(Defect, match=why):
        apply(SourceFile("a.py", "abcd"), edits)
