"""Arguments inserted into, removed from and replaced in calls of ``f``."""

from __future__ import annotations

import pytest

from ddplint.edits import CannotEdit
from tests.unit.edits.workbench import Workbench


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f()", "f(k=1)", id="no arguments"),
        pytest.param("f( )", "f(k=1 )", id="a space between the brackets"),
        pytest.param("f(\n)", "f(k=1\n)", id="a newline between the brackets"),
        pytest.param("f(  # (why\n)", "f(k=1  # (why\n)", id="only a comment between the brackets"),
        pytest.param("(f  # (\n)()", "(f  # (\n)(k=1)", id="a bracket in a comment of a function in parentheses"),
        pytest.param("(f  # (\n())", "(f  # (\n(k=1))", id="a bracket in a comment before the arguments"),
        pytest.param("f(a)", "f(a, k=1)", id="after the last argument"),
        pytest.param("f(a, )", "f(a, k=1, )", id="before a trailing comma"),
        pytest.param("f((a))", "f((a), k=1)", id="after an argument with parentheses of its own"),
        pytest.param("f(k2=(a, b),)", "f(k2=(a, b), k=1,)", id="after a tuple in parentheses"),
        pytest.param("f(*a)", "f(*a, k=1)", id="after a starred argument"),
        pytest.param("f(a, **kw)", "f(a, k=1, **kw)", id="before double stars"),
        pytest.param("f(**kw, **kw2)", "f(k=1, **kw, **kw2)", id="before the first of several double stars"),
        pytest.param("f(x for x in y)", "f((x for x in y), k=1)", id="a bare generator gets parentheses"),
        pytest.param("f((x for x in y))", "f((x for x in y), k=1)", id="a generator that has parentheses"),
        pytest.param("f(lambda: 0)", "f(lambda: 0, k=1)", id="after a lambda"),
        pytest.param("g(1, f(a), 2)", "g(1, f(a, k=1), 2)", id="a call inside another"),
        pytest.param("'é😀'; f('日本')", "'é😀'; f('日本', k=1)", id="letters of several bytes before the place"),
        pytest.param("f(a)(b)", "f(a, k=1)(b)", id="the inner of two calls in a chain"),
        pytest.param("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    k=1,\n)", id="lines of their own"),
        pytest.param("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    k=1\n)", id="lines without a trailing comma"),
        pytest.param("f(\n    a,\n    b)", "f(\n    a,\n    b,\n    k=1)", id="bracket on the last argument's line"),
        pytest.param("f(\n    a,\n    b,)", "f(\n    a,\n    b,\n    k=1,)", id="comma and bracket on the last line"),
        pytest.param(
            "f(\n    a,  # first\n    b,  # last\n)",
            "f(\n    a,  # first\n    b,  # last\n    k=1,\n)",
            id="a comment stays beside the last argument",
        ),
        pytest.param(
            "f(\n    a,\n    b  # last\n)",
            "f(\n    a,\n    b,  # last\n    k=1\n)",
            id="the comma goes before the comment",
        ),
        pytest.param("f(a,\n  b)", "f(a,\n  b,\n  k=1)", id="aligned under the first argument"),
        pytest.param("f(\n    a, b\n)", "f(\n    a, b, k=1\n)", id="several arguments on one line"),
        pytest.param("f(a  # c\n  , b\n)", "f(a  # c\n  , b, k=1\n)", id="commas at the start of lines"),
        pytest.param("f(\n\ta,\n\tb,\n)", "f(\n\ta,\n\tb,\n\tk=1,\n)", id="tabs"),
        pytest.param("f(\r\n  a,\r\n  b\r\n)\r\n", "f(\r\n  a,\r\n  b,\r\n  k=1\r\n)\r\n", id="Windows newlines"),
        pytest.param("f(\n    a,\n    **kw,\n)", "f(\n    a,\n    k=1,\n    **kw,\n)", id="a line before double stars"),
        pytest.param("f(a, '''\n  s\n''')", "f(a, '''\n  s\n''', k=1)", id="after a string over several lines"),
        pytest.param(
            "f(\n    '''\n  s\n''',\n)", "f(\n    '''\n  s\n''',\n    k=1,\n)", id="a string over lines of its own"
        ),
        pytest.param("x = [f(\n  [\n    1,\n  ],\n)]", "x = [f(\n  [\n    1,\n  ],\n  k=1,\n)]", id="nested brackets"),
        pytest.param("f(a, \\\n  b)", "f(a, \\\n  b, k=1)", id="a backslash before the last argument"),
        pytest.param("f(a \\\n  , )", "f(a, k=1 \\\n  , )", id="a backslash before the comma"),
        pytest.param("@f(a)\ndef g(): pass", "@f(a, k=1)\ndef g(): pass", id="a decorator"),
        pytest.param("@f()\nclass A: pass", "@f(k=1)\nclass A: pass", id="a class decorator without arguments"),
        pytest.param("if f(a): g(); h()", "if f(a, k=1): g(); h()", id="the header of a one-line block"),
        pytest.param("x = f'{f(a)}'", "x = f'{f(a, k=1)}'", id="inside an f-string"),
    ],
)
def test_a_keyword_goes_last_but_before_double_stars(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_argument(bench.call(), "k=1")) == after


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        pytest.param("f(a)", "'p'", "f(a, 'p')", id="after positional arguments"),
        pytest.param("f(a, k=1)", "'p'", "f(a, 'p', k=1)", id="before keywords"),
        pytest.param("f(k=1)", "x == 1", "f(x == 1, k=1)", id="a comparison is no keyword"),
        pytest.param("f(*a, k=1)", "p", "f(*a, p, k=1)", id="after a starred argument"),
        pytest.param("f(\n    k=1,\n)", "p", "f(\n    p,\n    k=1,\n)", id="on a line of its own"),
        pytest.param("f(**kw)", "p", "f(p, **kw)", id="before double stars"),
        pytest.param("f(a)", "**kw", "f(a, **kw)", id="double stars go last"),
    ],
)
def test_a_positional_argument_goes_before_keywords(before: str, text: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_argument(bench.call(), text)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f()", 'f("p")', id="no arguments"),
        pytest.param("f(a, b)", 'f("p", a, b)', id="before other positional arguments"),
        pytest.param("f(*a)", 'f("p", *a)', id="before a starred argument"),
        pytest.param("f(k=1)", 'f("p", k=1)', id="before keywords"),
        pytest.param("f(x for x in y)", 'f("p", (x for x in y))', id="a bare generator gets parentheses"),
        pytest.param("f(\n    a,  # c\n)", 'f(\n    "p",\n    a,  # c\n)', id="on a line of its own"),
        pytest.param("f(\r\n\ta\r\n)", 'f(\r\n\t"p",\r\n\ta\r\n)', id="tabs and Windows newlines"),
        pytest.param("f(  # c\n    a,\n)", 'f(  # c\n    "p",\n    a,\n)', id="below a comment"),
    ],
)
def test_the_first_argument_goes_before_all(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_argument(bench.call(), '"p"', first=True)) == after


def test_a_keyword_that_the_call_has_is_not_inserted_again() -> None:
    bench = Workbench("f(k=2)")
    with pytest.raises(CannotEdit, match="an argument 'k' already"):
        bench.editor.insert_argument(bench.call(), "k = 1")


def test_the_text_of_an_argument_gets_the_newlines_of_the_file() -> None:
    bench = Workbench("f(a)\r\n")
    assert bench.after(bench.editor.insert_argument(bench.call(), "k=[\n]")) == "f(a, k=[\r\n])\r\n"


@pytest.mark.parametrize(
    ("before", "argument", "after"),
    [
        pytest.param("f(a)", "a", "f()", id="the only one"),
        pytest.param("f( a, )", "a", "f()", id="the only one with its trailing comma and spaces"),
        pytest.param("f(\n    a,\n)", "a", "f()", id="the only one on its line"),
        pytest.param("f(  # c\n    a,\n)", "a", "f(  # c\n    \n)", id="the only one beside a comment of the call"),
        pytest.param("f(a  # c\n)", "a", "f(  # c\n)", id="the only one before a comment"),
        pytest.param("f((a))", "(a)", "f()", id="the only one with parentheses of its own"),
        pytest.param("f(x for x in y)", "x for x in y", "f()", id="a bare generator"),
        pytest.param("f(a, b, c)", "a", "f(b, c)", id="the first"),
        pytest.param("f(a, b, c)", "b", "f(a, c)", id="one between others"),
        pytest.param("f(a, b, c)", "c", "f(a, b)", id="the last"),
        pytest.param("f(a, c, )", "c", "f(a, )", id="the last before a trailing comma"),
        pytest.param("f(a, k=(1, 2))", "k=(1, 2)", "f(a)", id="a keyword with a tuple"),
        pytest.param("f(a, **kw)", "**kw", "f(a)", id="double stars"),
        pytest.param("f(\n    a,\n    b,\n    c,\n)", "b", "f(\n    a,\n    c,\n)", id="a line of its own"),
        pytest.param("f(\n    a,  # A\n    b,  # B\n)", "a", "f(\n    b,  # B\n)", id="its comment goes with it"),
        pytest.param("f(\n    a,  # A\n    b,  # B\n)", "b", "f(\n    a,  # A\n)", id="the last line"),
        pytest.param("f(\n    a,\n    b\n)", "b", "f(\n    a,\n)", id="the last line without a comma"),
        pytest.param(
            "f(\n    a,\n    # B\n    b,\n)", "a", "f(\n    # B\n    b,\n)", id="the next one's comment stays"
        ),
        pytest.param("f(a,\n  b)", "a", "f(b)", id="the first before an aligned line"),
        pytest.param("f(a,\n  b)", "b", "f(a)", id="the last aligned line"),
        pytest.param("f(a,  # A\n  b)", "b", "f(a,  # A\n  )", id="the bracket cannot move behind a comment"),
        pytest.param("f(a,  # A\n  b)", "a", "f(  # A\n  b)", id="a comment behind the first stays"),
        pytest.param("f(a, b,\n  c)", "b", "f(a,\n  c)", id="the last of a line"),
        pytest.param("f(\n  a,\n  b, c\n)", "b", "f(\n  a,\n  c\n)", id="the first of a line"),
        pytest.param(
            "f(a  # A\n  , b  # B\n  , c)", "b", "f(a  # A\n    # B\n  , c)", id="commas at the start of lines"
        ),
        pytest.param("f(\r\n\ta,\r\n\tb,\r\n)", "a", "f(\r\n\tb,\r\n)", id="tabs and Windows newlines"),
        pytest.param("f(\n    a,\n    '''\n''',\n)", "a", "f(\n    '''\n''',\n)", id="a string over lines stays"),
        pytest.param("'é😀'; f('日', b)", "b", "'é😀'; f('日')", id="letters of several bytes before the place"),
        pytest.param("f(a, \\\n  b)", "b", "f(a)", id="after a backslash"),
        pytest.param("f(a, \\\n  b)", "a", "f(b)", id="before a backslash"),
    ],
)
def test_an_argument_is_removed_with_its_comma(before: str, argument: str, after: str) -> None:
    bench = Workbench(before)
    call = bench.call()
    node = call.args[0] if argument.startswith("x for") else bench.argument(call, argument)
    assert bench.after(bench.editor.remove_argument(call, node)) == after


def test_an_argument_of_another_call_is_not_removed() -> None:
    bench = Workbench("f(a); g(b)")
    with pytest.raises(CannotEdit, match="another call"):
        bench.editor.remove_argument(bench.call("f"), bench.call("g").args[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f(a)", "f(new)", id="positional"),
        pytest.param("f(k = a)", "f(k = new)", id="the spaces around the equals sign stay"),
        pytest.param("f(k=(a\n),)", "f(k=new,)", id="parentheses of its own go"),
        pytest.param("f(*a)", "f(*new)", id="the star stays"),
        pytest.param("f(\n    a,  # c\n)", "f(\n    new,  # c\n)", id="the comment stays"),
        pytest.param("f(x for x in y)", "f(new)", id="a bare generator"),
    ],
)
def test_the_value_of_an_argument_is_replaced(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.replace_argument(bench.call().args[0], "new")) == after
