"""Nodes replaced, text inserted beside them, their text read."""

from __future__ import annotations

import pytest

from ddplint.edits import CannotEdit
from tests.unit.edits.workbench import Workbench


@pytest.mark.parametrize(
    ("before", "node", "text", "after"),
    [
        pytest.param("a.b(c)", "a.b", "d", "d(c)", id="the function of a call"),
        pytest.param("(a)\n", "a", "d", "(d)\n", id="parentheses of its own stay"),
        pytest.param("x = (a +\n  b)", "a +\n  b", "d", "x = (d)", id="over two lines"),
        pytest.param("'é😀', a, '日'", "a", "d", "'é😀', d, '日'", id="letters of several bytes before the place"),
        pytest.param("x = a\r\ny\r\n", "a", "(d\n)", "x = (d\r\n)\r\ny\r\n", id="Windows newlines"),
        pytest.param(
            "def f():\n\treturn a", "a", "'''d\n'''", "def f():\n\treturn '''d\n'''", id="a string over lines"
        ),
        pytest.param("assert'a'in'b'", "'a'", "d", "assert d in'b'", id="words stay apart"),
        pytest.param("x = f'{a}'", "a", "d.e", "x = f'{d.e}'", id="in an f-string"),
        pytest.param("@a.b\ndef f(): pass", "a.b", "d", "@d\ndef f(): pass", id="a decorator"),
        pytest.param("if x: a; b", "a", "d", "if x: d; b", id="in a one-line block"),
    ],
)
def test_a_node_is_replaced(before: str, node: str, text: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.replace(bench.expression(node), text)) == after


@pytest.mark.parametrize(
    ("before", "node", "text", "after"),
    [
        pytest.param("x = a", "a", "d + ", "x = d + a", id="an operand"),
        pytest.param("x = (a)", "a", "-", "x = -(a)", id="parentheses of its own stay with it"),
        pytest.param("def f(): return(a)", "a", "d", "def f(): return d(a)", id="words stay apart"),
        pytest.param("x = [\n  *a,\n]", "*a", "d, ", "x = [\n  d, *a,\n]", id="a starred element"),
    ],
)
def test_text_goes_before_a_node(before: str, node: str, text: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_before(bench.expression(node), text)) == after


@pytest.mark.parametrize(
    ("before", "node", "text", "after"),
    [
        pytest.param("a.b(c)", "a", ".m", "a.m.b(c)", id="an attribute"),
        pytest.param("(a + b) * c", "a + b", ".m", "(a + b).m * c", id="after parentheses of its own"),
        pytest.param("(a\n  # c\n)", "a", ".m", "(a\n  # c\n).m", id="after a comment in its parentheses"),
        pytest.param("x = [*a, b]", "*a", ", d", "x = [*a, d, b]", id="a starred element, before its comma"),
        pytest.param("x = a if(b)else c", "b", " == d", "x = a if(b) == d else c", id="words stay apart"),
    ],
)
def test_text_goes_after_a_node(before: str, node: str, text: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_after(bench.expression(node), text)) == after


@pytest.mark.parametrize(
    ("text", "node", "cut"),
    [
        pytest.param("x = (a +\r\n  b)", "a +\r\n  b", "(a +\r\n  b)", id="with parentheses of its own"),
        pytest.param("f(a, b)", "a", "a", id="without a comma"),
        pytest.param("[*a, b]", "*a", "*a", id="a starred element without its comma"),
    ],
)
def test_the_text_of_a_node_is_cut(text: str, node: str, cut: str) -> None:
    bench = Workbench(text)
    assert bench.editor.source_text(bench.expression(node)) == cut


def test_the_text_of_a_statement_ends_before_its_comment() -> None:
    bench = Workbench("# a\nt(1)  # b\n")
    assert bench.editor.source_text(bench.statement()) == "t(1)"


@pytest.mark.parametrize("text", ["'d'", '"d"', "a\\\n", "(\n1)", "(1 # c\n)"])
@pytest.mark.parametrize("before", ["x = f'{a}'", "x = 'b' rf'''\n{c:{a}}'''", "x = f'{b + f(a)}'", "x = f'\\\n{a}'"])
def test_what_an_older_f_string_cannot_hold_is_refused(before: str, text: str) -> None:
    bench = Workbench(before)
    with pytest.raises(CannotEdit, match="f-string"):
        bench.editor.replace(bench.expression("a"), text)


def test_beside_an_f_string_quotes_are_no_problem() -> None:
    bench = Workbench("print(f'{a}', b)")
    assert bench.after(bench.editor.replace(bench.expression("b"), "'d'")) == "print(f'{a}', 'd')"
