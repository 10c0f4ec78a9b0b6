"""Lines inserted around statements, statements removed and guarded. The one meant is ``t`` or has ``t`` first."""

from __future__ import annotations

import pytest

from ddplint.edits import CannotEdit
from tests.unit.edits.workbench import Workbench


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("t()\n", "n\nt()\n", id="the first line of a file"),
        pytest.param("t()", "n\nt()", id="a file without a final newline"),
        pytest.param("#!/bin/env python\n# -*- x -*-\nt()\n", "#!/bin/env python\n# -*- x -*-\nn\nt()\n", id="shebang"),
        pytest.param("a\n\n# c\n# d\nt()\n", "a\n\nn\n# c\n# d\nt()\n", id="above the comments of the statement"),
        pytest.param("a\n# c\n\nt()\n", "a\n# c\n\nn\nt()\n", id="below a comment that stands apart"),
        pytest.param("a  # c\nt()\n", "a  # c\nn\nt()\n", id="below a comment behind the line above"),
        pytest.param("if a:\n    t()\n", "if a:\n    n\n    t()\n", id="in a block"),
        pytest.param(
            "if a:\n    # c\n    t()\n", "if a:\n    n\n    # c\n    t()\n", id="a comment that opens a block"
        ),
        pytest.param("if a:\n\tif b:\n\t\tt()\n", "if a:\n\tif b:\n\t\tn\n\t\tt()\n", id="tabs"),
        pytest.param("if a:\r\n  t()\r\n", "if a:\r\n  n\r\n  t()\r\n", id="Windows newlines"),
        pytest.param("@d\n# c\ndef t():\n    pass\n", "n\n@d\n# c\ndef t():\n    pass\n", id="above decorators"),
        pytest.param(
            "class A:\n  @d\n  def t(self): pass\n", "class A:\n  n\n  @d\n  def t(self): pass\n", id="method"
        ),
        pytest.param("a; t()\n", "a\nn\nt()\n", id="behind a semicolon"),
        pytest.param("if x:\n    a ; t() ; b  # c\n", "if x:\n    a\n    n\n    t() ; b  # c\n", id="in a row"),
        pytest.param("t(); b\n", "n\nt(); b\n", id="the first of a row"),
        pytest.param("'''\n  '''; t()\n", "'''\n  '''\nn\nt()\n", id="behind a string over several lines"),
        pytest.param("if x: t()\n", "if x:\n    n\n    t()\n", id="a one-line block"),
        pytest.param("if x: t(); b  # c\nelse: d\n", "if x:\n    n\n    t(); b  # c\nelse: d\n", id="with an else"),
        pytest.param("if x: a; t()\n", "if x:\n    a\n    n\n    t()\n", id="behind another in a one-line block"),
        pytest.param("if x: \\\n  t()\n", "if x:\n    n\n    t()\n", id="a one-line block behind a backslash"),
        pytest.param("if (a and\n  b): t()\n", "if (a and\n  b):\n    n\n    t()\n", id="a header over two lines"),
        pytest.param(
            "for a in b:\n\tif x: t()\n\telse: c\n",
            "for a in b:\n\tif x:\n\t\tn\n\t\tt()\n\telse: c\n",
            id="a one-line block in a block of tabs",
        ),
        pytest.param("try: a\nexcept E: t()\n", "try: a\nexcept E:\n    n\n    t()\n", id="a one-line except"),
        pytest.param("x=1\n\x0c\nt()\n", "x=1\n\x0c\nn\nt()\n", id="a form feed on the line above"),
        pytest.param("if x:\n\x0c    t()\n", "if x:\n    n\n\x0c    t()\n", id="a form feed in the indentation"),
        pytest.param("é = '日'; t()\n", "é = '日'\nn\nt()\n", id="letters of several bytes before the place"),
        pytest.param("a = '\u2028'\nt()\n", "a = '\u2028'\nn\nt()\n", id="a line separator that ends no line"),
        pytest.param("if x:\n  a\n  # c\nelse:\n  t()\n", "if x:\n  a\n  # c\nelse:\n  n\n  t()\n", id="in an else"),
        pytest.param("match x:\n  case 1: t()\n", "match x:\n  case 1:\n    n\n    t()\n", id="a one-line case"),
        pytest.param("async def g():\n  await t\n  t()\n", "async def g():\n  await t\n  n\n  t()\n", id="a coroutine"),
    ],
)
def test_lines_go_above_a_statement(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_statements_before(bench.statement(), ["n"])) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("t()\na\n", "t()\nn\na\n", id="between two lines"),
        pytest.param("t()", "t()\nn", id="at the end of a file without a final newline"),
        pytest.param("t()\r\na", "t()\r\nn\r\na", id="Windows newlines"),
        pytest.param("a\r\nt()", "a\r\nt()\r\nn", id="Windows newlines, none at the end"),
        pytest.param("t();  # c\n\n# d\na\n", "t();  # c\nn\n\n# d\na\n", id="below the comment on its line"),
        pytest.param("t(\n  1)  # c", "t(\n  1)  # c\nn", id="below a comment that ends the file"),
        pytest.param("t() \\\n\na\n", "t() \\\n\nn\na\n", id="below a continued line"),
        pytest.param("t(); a\n", "t()\nn\na\n", id="before a semicolon"),
        pytest.param("a; t()\nb\n", "a; t()\nn\nb\n", id="the last of a row"),
        pytest.param("if x: t()\nb\n", "if x:\n    t()\n    n\nb\n", id="a one-line block"),
        pytest.param("if x: t()", "if x:\n    t()\n    n", id="a one-line block that ends the file"),
        pytest.param("if x: t(); a\n", "if x:\n    t()\n    n\n    a\n", id="in a row of a one-line block"),
        pytest.param(
            "if x: a; t()\nelse: b\n", "if x:\n    a; t()\n    n\nelse: b\n", id="the last of a one-line block"
        ),
        pytest.param("if x:\n\tt()\nb\n", "if x:\n\tt()\n\tn\nb\n", id="the last of a block of tabs"),
        pytest.param(
            "if t:\n  a\n  # c\n\n# d\nb\n", "if t:\n  a\n  # c\nn\n\n# d\nb\n", id="the comments of its block"
        ),
        pytest.param("def t():\n  a\n\n\nb\n", "def t():\n  a\nn\n\n\nb\n", id="a function before blank lines"),
        pytest.param("'''é\n日'''; t()\n", "'''é\n日'''; t()\nn\n", id="behind a string over several lines"),
    ],
)
def test_lines_go_below_a_statement(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_statements_after(bench.statement(), ["n"])) == after


@pytest.mark.parametrize("primitive", ["insert_statements_before", "insert_statements_after", "guard_statement"])
def test_an_elif_has_no_place_of_its_own(primitive: str) -> None:
    bench = Workbench("if a:\n    b\nelif t:\n    c\n")
    with pytest.raises(CannotEdit, match="no place of its own"):
        getattr(bench.editor, primitive)(bench.compound("elif"), ["n"])


def test_lines_get_the_indentation_and_the_newlines_of_the_file() -> None:
    bench = Workbench("if x:\r\n\tt()\r\n")
    lines = ["if n:", "    a", "", "    b(1,", "      2)"]
    after = "if x:\r\n\tif n:\r\n\t\ta\r\n\r\n\t\tb(1,\r\n\t\t  2)\r\n\tt()\r\n"
    assert bench.after(bench.editor.insert_statements_before(bench.statement(), lines)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("for e in x:\n    a\n", "for e in x:\n    n\n    a\n", id="a loop"),
        pytest.param("for e in x:  # c\n\n  # d\n  a\n", "for e in x:  # c\n  n\n\n  # d\n  a\n", id="comments"),
        pytest.param("for e in x: a; b  # c\n", "for e in x:\n    n\n    a; b  # c\n", id="a one-line block"),
        pytest.param("while x:\n\ta", "while x:\n\tn\n\ta", id="tabs, no final newline"),
        pytest.param("with x:\r\n  a\r\n", "with x:\r\n  n\r\n  a\r\n", id="Windows newlines"),
        pytest.param("def f(): a", "def f():\n    n\n    a", id="a one-line function"),
        pytest.param("def f():\n  'd'\n\n  a\n", "def f():\n  'd'\n  n\n\n  a\n", id="after a docstring"),
        pytest.param("def f():\n  '''d\n'''  # c\n", "def f():\n  '''d\n'''  # c\n  n\n", id="after a lone docstring"),
        pytest.param("def f(): 'd'; a\n", "def f():\n    'd'\n    n\n    a\n", id="after a docstring in a row"),
        pytest.param("class A: 'd'\n", "class A:\n    'd'\n    n\n", id="after the docstring of a class"),
        pytest.param("for e in x:\n  'd'\n  a\n", "for e in x:\n  n\n  'd'\n  a\n", id="a loop has no docstring"),
        pytest.param(
            "@d\nasync def f():\n  @d\n  def g(): a\n", "@d\nasync def f():\n  n\n  @d\n  def g(): a\n", id="decorators"
        ),
        pytest.param("for e in (1,\n  2):\n   a\n", "for e in (1,\n  2):\n   n\n   a\n", id="a header over two lines"),
        pytest.param("for e in x:\n  # c\n  if a: b\n", "for e in x:\n  n\n  # c\n  if a: b\n", id="a nested block"),
        pytest.param(
            "for é in '日': a", "for é in '日':\n    n\n    a", id="letters of several bytes before the place"
        ),
        pytest.param("for e in x:\n\x0c  a\n", "for e in x:\n  n\n\x0c  a\n", id="a form feed before the block"),
        pytest.param(
            "for e in x:\n\x0c\n  a\n", "for e in x:\n  n\n\x0c\n  a\n", id="a form feed on a line of its own"
        ),
    ],
)
def test_lines_go_first_in_a_block(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.insert_first_in_block(bench.module.body[0], ["n"])) == after


@pytest.mark.parametrize(
    ("part", "after"),
    [
        pytest.param("except", "try: a\nexcept E:\n  n\n  b\nelse: c\nfinally:\n  d\n", id="except"),
        pytest.param("else", "try: a\nexcept E:\n  b\nelse:\n  n\n  c\nfinally:\n  d\n", id="else"),
        pytest.param("finally", "try: a\nexcept E:\n  b\nelse: c\nfinally:\n  n\n  d\n", id="finally"),
    ],
)
def test_lines_go_first_in_a_branch(part: str, after: str) -> None:
    bench = Workbench("try: a\nexcept E:\n  b\nelse: c\nfinally:\n  d\n")
    assert bench.after(bench.editor.insert_first_in_block(bench.compound(part), ["n"])) == after


@pytest.mark.parametrize("text", ["a = 1\n", "match a:\n  case 1: b\n"], ids=["a line", "a match statement"])
def test_what_has_no_block_has_no_first_line(text: str) -> None:
    bench = Workbench(text)
    with pytest.raises(CannotEdit, match="no block of statements"):
        bench.editor.insert_first_in_block(bench.module.body[0], ["n"])
