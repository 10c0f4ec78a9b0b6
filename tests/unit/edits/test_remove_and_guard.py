"""Statements removed, and put under a header. The one meant is ``t`` or has ``t`` first."""

from __future__ import annotations

import libcst as cst
import pytest

from tests.unit.edits.workbench import Workbench


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a\nt()\nb\n", "a\nb\n", id="a line between others"),
        pytest.param("t()\n", "", id="the only line of a file"),
        pytest.param("t()", "", id="the only line without a newline"),
        pytest.param("a\r\nt()", "a", id="the last line without a newline"),
        pytest.param("a\nt()  # c\nb\n", "a\nb\n", id="with the comment on its line"),
        pytest.param("# c\nt()\nb\n", "# c\nb\n", id="comments above stay"),
        pytest.param("a\nt(\n  1, '''\n''')\nb\n", "a\nb\n", id="several lines"),
        pytest.param("if x:\n    t()\n", "if x:\n    pass\n", id="the only one of a block"),
        pytest.param("if x:\n    # c\n    t();  # d\n", "if x:\n    # c\n    pass;  # d\n", id="with its comments"),
        pytest.param("if x:\r\n\tt()\r\n\ta\r\n", "if x:\r\n\ta\r\n", id="tabs and Windows newlines"),
        pytest.param("if x: t()\n", "if x: pass\n", id="the only one of a one-line block"),
        pytest.param("if x: t(); a\n", "if x: a\n", id="the first of a one-line block"),
        pytest.param("if x: a; t();\n", "if x: a;\n", id="the last of a one-line block"),
        pytest.param("a; t() ; b\n", "a ; b\n", id="between semicolons"),
        pytest.param("if x:\n  a; t()\n", "if x:\n  a\n", id="the last of a row"),
        pytest.param("if t:\n  a\n  # c\n\n# d\nb\n", "\n# d\nb\n", id="a block with its comments"),
        pytest.param("if x:\n  if t:\n    a  # c\n    # d\n", "if x:\n  pass\n", id="a block in a block"),
        pytest.param("@d\ndef t(): pass\nb\n", "b\n", id="with decorators"),
        pytest.param("if x:\n  @d\n  def t(): a\n", "if x:\n  pass\n", id="the only one, with decorators"),
        pytest.param("def f():\n  'd'\n  t()\n", "def f():\n  'd'\n", id="a docstring stays"),
        pytest.param("é = '日'; t()\n", "é = '日'\n", id="letters of several bytes before the place"),
    ],
)
def test_a_statement_is_removed(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.remove_statement(bench.statement())) == after


def test_a_line_of_statements_is_one_statement() -> None:
    bench = Workbench("if x:\n    a; b\n    c\n")
    line = next(node for node in bench.nodes if isinstance(node, cst.SimpleStatementLine))
    assert bench.after(bench.editor.remove_statement(line)) == "if x:\n    c\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("t()\n", "if r:\n    t()\n", id="a line"),
        pytest.param("t()", "if r:\n    t()", id="a file without a final newline"),
        pytest.param("# c\nt();  # d\nb\n", "# c\nif r:\n    t();  # d\nb\n", id="comments"),
        pytest.param("for x in y:\n  t()\n", "for x in y:\n  if r:\n    t()\n", id="in a block"),
        pytest.param("if x:\r\n\tt()\r\n", "if x:\r\n\tif r:\r\n\t\tt()\r\n", id="tabs and Windows newlines"),
        pytest.param("t(\n  1,\n\n  # c\n)\n", "if r:\n    t(\n      1,\n\n      # c\n    )\n", id="several lines"),
        pytest.param("t('''\n  a\n''')\n", "if r:\n    t('''\n  a\n''')\n", id="a string keeps its content"),
        pytest.param("t(f'''\n{a}''',\n  1)\n", "if r:\n    t(f'''\n{a}''',\n      1)\n", id="an f-string too"),
        pytest.param("t('a\\\nb')\n", "if r:\n    t('a\\\nb')\n", id="a string continued by a backslash"),
        pytest.param("t(a + \\\n  b)\n", "if r:\n    t(a + \\\n      b)\n", id="a line continued by a backslash"),
        pytest.param("t(1); b\n", "if r:\n    t(1)\nb\n", id="the first of a row"),
        pytest.param("a; t(1) ; b  # c\n", "a\nif r:\n    t(1)\nb  # c\n", id="in a row"),
        pytest.param("a; t(1)  # c\n", "a\nif r:\n    t(1)  # c\n", id="the last of a row"),
        pytest.param("a; t(\n1); b\n", "a\nif r:\n    t(\n    1)\nb\n", id="several lines in a row"),
        pytest.param("if x: t()\n", "if x:\n    if r:\n        t()\n", id="a one-line block"),
        pytest.param("if x: a; t(); b\n", "if x:\n    a\n    if r:\n        t()\n    b\n", id="a row behind a header"),
        pytest.param("if x: t()  # c\nelse: b\n", "if x:\n    if r:\n        t()  # c\nelse: b\n", id="with an else"),
        pytest.param("for t in y:\n  a\n  # c\n# d\n", "if r:\n  for t in y:\n    a\n    # c\n# d\n", id="a loop"),
        pytest.param("if t: a\nelse:\n  b\n", "if r:\n  if t: a\n  else:\n    b\n", id="with its branches"),
        pytest.param("@d\n# c\ndef t():\n  a\n", "if r:\n  @d\n  # c\n  def t():\n    a\n", id="with decorators"),
        pytest.param("if x:\n  t(\n1)\n", "if x:\n  if r:\n    t(\n  1)\n", id="a line that starts left of its block"),
        pytest.param(
            "def t():\n  '''a\n  b'''\n  c\n", "if r:\n  def t():\n    '''a\n  b'''\n    c\n", id="a docstring"
        ),
        pytest.param("t('é',\n'日')\n", "if r:\n    t('é',\n    '日')\n", id="letters of several bytes"),
        pytest.param("t('\u2028',\n1)\n", "if r:\n    t('\u2028',\n    1)\n", id="a separator that ends no line"),
    ],
)
def test_a_statement_goes_under_a_header(before: str, after: str) -> None:
    bench = Workbench(before)
    assert bench.after(bench.editor.guard_statement(bench.statement(), "if r:")) == after


def test_a_guard_claims_all_that_it_moves() -> None:
    bench = Workbench("for t in y:\n    a\n    b\n")
    (edit,) = bench.editor.guard_statement(bench.statement(), "if r:")
    assert (edit.start, edit.end) == ((1, 1), (3, 6))
