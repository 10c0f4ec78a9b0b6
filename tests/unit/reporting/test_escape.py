from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddplint.reporting.escape import visible, visible_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("lr = 0.1 * world_size", "lr = 0.1 * world_size", id="ordinary code stays as it is"),
        pytest.param("# 训练 é ß 🚀", "# 训练 é ß 🚀", id="letters of every script and emoji stay as they are"),
        pytest.param("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m", id="an escape sequence shows its escape"),
        pytest.param("\x9b31m", r"\x9b31m", id="the one-byte form of an escape sequence shows itself"),
        pytest.param("a\rb\x08c\x07\x7f", r"a\rb\x08c\x07\x7f", id="cursor movement and bells show themselves"),
        pytest.param("a\nb", r"a\nb", id="a newline in what must be one line shows itself"),
        pytest.param("\u202ereversed", r"\u202ereversed", id="text cannot be turned around"),
        pytest.param("a\u2028b", r"a\u2028b", id="a line separator does not separate lines"),
        pytest.param("caf\udce9.py", r"caf\udce9.py", id="a byte of a path that is no UTF-8 shows itself"),
    ],
)
def test_characters_that_act_are_shown_instead(text: str, shown: str) -> None:
    assert visible(text) == shown


@settings(deadline=None)
@given(st.text(st.characters()))
def test_one_line_is_printable_whatever_it_was(text: str) -> None:
    assert visible(text).isprintable()


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1))
def test_lines_stay_lines(lines: list[str]) -> None:
    assert visible_text("\n".join(lines)).split("\n") == [visible(line) for line in lines]
