from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddplint.findings import Place
from ddplint.reporting.frame import LEAD, TAB, WIDEST, code_frame
from ddplint.source import Position

CODE = st.text(st.sampled_from("\tab =()'#"), max_size=4 * WIDEST)


def framed(text: str, first: int, last: int, lines: int = 1) -> tuple[str, str]:
    return code_frame(Place("x.py", Position(7, first), Position(6 + lines, last), text))


@pytest.mark.parametrize(
    ("text", "span", "shown"),
    [
        pytest.param("x = f(y)", (5, 9), ("x = f(y)", "    ^^^^"), id="carets stand under the span"),
        pytest.param("x = f(y)", (5, 5), ("x = f(y)", "    ^"), id="an empty span gets one caret"),
        pytest.param(
            "x = f(", (7, 7), ("x = f(", "      ^"), id="a span after the last character stands behind the line"
        ),
        pytest.param("x = f(", (20, 30), ("x = f(", "      ^"), id="a span outside of the line stands behind it"),
        pytest.param("x  # y   ", (4, 10), ("x  # y", "   ^^^"), id="carets do not run over trailing spaces"),
        pytest.param("\tx = y", (2, 3), ("    x = y", "    ^"), id="a tab takes the columns to the next stop"),
        pytest.param("ab\tx\ty", (4, 5), ("ab  x   y", "    ^"), id="a tab inside a line takes fewer columns"),
        pytest.param("训 = 练()", (5, 8), ("训 = 练()", "     ^^^^"), id="a wide character takes two columns"),
        pytest.param("ＡB", (2, 3), ("ＡB", "  ^"), id="a full-width letter takes two columns"),  # noqa: RUF001 - on purpose
        pytest.param("o\u20ddx", (3, 4), ("o\u20ddx", " ^"), id="an enclosing mark takes no column"),
        pytest.param("e\u0301x = 1", (3, 4), ("e\u0301x = 1", " ^"), id="a combining mark takes no column"),
        pytest.param("a\x1b[1mb", (6, 7), (r"a\x1b[1mb", "        ^"), id="an escape takes the columns that it shows"),
    ],
)
def test_carets(text: str, span: tuple[int, int], shown: tuple[str, str]) -> None:
    assert framed(text, *span) == shown


def test_a_span_that_goes_on_below_is_marked_to_the_end_of_its_first_line() -> None:
    assert framed("x = f(  ", 5, 2, lines=3) == ("x = f(", "    ^^")


@pytest.mark.parametrize(
    ("text", "span", "start", "end", "length"),
    [
        pytest.param("a" * WIDEST, (9, 10), "aaa", "aaa", WIDEST, id="a line that just fits is not cut"),
        pytest.param(
            "a" * 400, (60, 64), "aaa", "aaa...", WIDEST - 3, id="a span near the beginning keeps the beginning"
        ),
        pytest.param("a" * 400, (200, 204), "...aaa", "aaa...", WIDEST, id="a span in the middle loses both ends"),
        pytest.param("a" * 400, (397, 401), "...aaa", "aaa", WIDEST - 3, id="a span at the end keeps the end"),
        pytest.param(
            "训" * 200, (100, 101), "...训", "训...", WIDEST // 2 + 3, id="wide characters are counted as wide"
        ),
        pytest.param(
            "a" * 400, (20, 390), "aaa", "aaa...", WIDEST - 3, id="a span wider than the frame keeps its start"
        ),
    ],
)
def test_long_lines_are_cut_around_the_span(
    text: str, span: tuple[int, int], start: str, end: str, length: int
) -> None:
    line, carets = framed(text, *span)
    assert line.startswith(start)
    assert line.endswith(end)
    assert len(line) == length
    assert "^" in carets
    assert len(carets) <= WIDEST


def test_a_cut_line_keeps_some_code_before_the_span() -> None:
    line, carets = framed("b" * 300 + "(" + "b" * 300, 301, 302)
    assert line.index("(") == carets.index("^")
    assert carets.index("^") == len("...") + LEAD


@settings(deadline=None)
@given(CODE, st.data())
def test_the_first_caret_stands_under_the_first_character_of_the_span(text: str, data: st.DataObject) -> None:
    text = text.rstrip() + "x"
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    line, carets = framed(text, first + 1, last + 1)
    assert line[carets.index("^")] == text[first].replace("\t", " ")
    assert len(carets) <= len(line) <= WIDEST


@settings(deadline=None)
@given(CODE, st.data())
def test_tabs_stand_where_python_expands_them(text: str, data: st.DataObject) -> None:
    text = text[: WIDEST // TAB].rstrip() + "x"
    first = data.draw(st.integers(0, len(text) - 1))
    line, carets = framed(text, first + 1, len(text) + 1)
    assert line == text.expandtabs(TAB)
    assert carets.index("^") == len(text[:first].expandtabs(TAB))
    assert len(carets) == len(line)
