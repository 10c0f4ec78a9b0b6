from __future__ import annotations

import subprocess
import sys

import pytest

from ddplint.source import refusal
from ddplint.source.limits import LARGEST_MEGABYTES, MOST_BRACKETS, MOST_BRANCHES, MOST_LINKS, MOST_PATTERNS

CHAIN = f"a chain of more than {MOST_LINKS} operators, calls or strings"
BRACKETS = f"brackets nested more than {MOST_BRACKETS} deep"
PATTERNS = f"patterns nested more than {MOST_PATTERNS} deep"
BRANCHES = f"more than {MOST_BRANCHES} elif branches of one if"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param("#" * LARGEST_MEGABYTES * 10**6 + "\n", f"larger than {LARGEST_MEGABYTES} MB", id="a large file"),
        pytest.param("x\n" + "(" * 5000 + ")" * 5000, f"line 2: {BRACKETS}", id="brackets"),
        pytest.param("x\n\n" + "[" * 5000, f"line 3: {BRACKETS}", id="brackets that never close"),
        pytest.param("f(a[{1: " * 40 + "x" + "}])" * 40, f"line 1: {BRACKETS}", id="brackets of all kinds"),
        pytest.param("x = " + " + ".join("a" * 4000), f"line 1: {CHAIN}", id="a sum"),
        pytest.param("x = a" + " + \\\n  a" * 4000, f"line {MOST_LINKS + 1}: {CHAIN}", id="a sum over many lines"),
        pytest.param("x = (" + "a\n+ " * 4000 + "a)", f"line {MOST_LINKS + 1}: {CHAIN}", id="a sum in parentheses"),
        pytest.param("x = " + "f(a, b) + " * 4000 + "c", f"line 1: {CHAIN}", id="a sum of calls with arguments"),
        pytest.param("a" + ".b()" * 4000, f"line 1: {CHAIN}", id="a chain of methods"),
        pytest.param("a" + "()" * 4000, f"line 1: {CHAIN}", id="a chain of calls"),
        pytest.param("a" + "[0]" * 4000, f"line 1: {CHAIN}", id="a chain of subscripts"),
        pytest.param("x = " + "'a' " * 4000, f"line 1: {CHAIN}", id="strings side by side"),
        pytest.param("x = " + "a if b else " * 4000 + "c", f"line 1: {CHAIN}", id="conditional expressions"),
        pytest.param("x = " + "lambda: " * 4000 + "c", f"line 1: {CHAIN}", id="lambdas"),
        pytest.param("x = " + "not " * 4000 + "c", f"line 1: {CHAIN}", id="negations"),
        pytest.param("[x" + " for x in y" * 4000 + "]", f"line 1: {CHAIN}", id="loops of one comprehension"),
        pytest.param("import a" + ".b" * 4000, f"line 1: {CHAIN}", id="a dotted name"),
        pytest.param("a" + ".b" * 300 + "[c" + ".d" * 300 + "]", f"line 1: {CHAIN}", id="a chain in a chain"),
        pytest.param(
            "x = f'" + "{x:" * 5000 + "}" * 5000 + "'", "line 1: braces nested more than", id="f-string braces"
        ),
        pytest.param("if a: pass\n" + "elif b: pass\n" * 5000, BRANCHES, id="branches"),
        pytest.param(
            "if a:\n if b:\n  c\n" + "elif d:\n if b:\n  c\n" * 501, BRANCHES, id="branches with an if in each"
        ),
        pytest.param("match x:\n case " + "[" * 50 + "]" * 50 + ": pass", f"line 2: {PATTERNS}", id="patterns"),
        pytest.param(
            "match x:\n case " + "{1:\n" * 9 + "x" + "}" * 9 + ": pass", f"line 10: {PATTERNS}", id="on many lines"
        ),
    ],
)
def test_what_kills_or_stalls_the_parser_is_refused(code: str, reason: str) -> None:
    assert (refusal(code.encode()) or "").startswith(reason)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("", id="nothing"),
        pytest.param("x = '" + "(" * 5000 + "'\n# " + "[" * 5000, id="brackets in strings and comments"),
        pytest.param("x = (1)\n" * 5000, id="many brackets one after the other"),
        pytest.param("x = [\n" + "a.b + 1,\n" * 5000 + "]", id="a long list"),
        pytest.param("f(" + "a=b.c, " * 5000 + ")", id="a call with many arguments"),
        pytest.param("a.b()\n" * 5000, id="many statements"),
        pytest.param("a.b();" * 5000, id="many statements on a line"),
        pytest.param("x = '''" + "{ {\n" * 90 + "'''", id="braces in a string"),
        pytest.param("x = '" + "{}" * 5000 + "'", id="many braces one after the other"),
        pytest.param("if a:\n  b\nelif c:\n  d\n" * 5000, id="many short chains of branches"),
        pytest.param("f((((\n" + "def g():\n  a.b\n" * 5000, id="brackets left open: the parser says where"),
        pytest.param("case = [[[[[[[[[[1]]]]]]]]]]\n", id="a variable named case"),
        pytest.param("match x:\n case 1: f(((((((((y)))))))))\n", id="brackets behind a pattern"),
        pytest.param("operand" * 5000, id="a word that ends in an operator"),
        pytest.param(b"# coding: latin-1\n\xe9 = 1\n".decode("latin-1"), id="letters that are not ASCII"),
    ],
)
def test_what_people_write_is_not(code: str) -> None:
    assert refusal(code.encode()) is None


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("'a[1:' * b + 'x' + ']' * b", id="brackets"),
        pytest.param("'a' + '.b()' * (n // 2)", id="a chain of methods"),
        pytest.param("'a' + '[0]' * n", id="a chain of subscripts"),
        pytest.param("'if a: pass\\n' + 'elif b: pass\\n' * e", id="branches"),
        pytest.param("'match x:\\n case ' + '{1: ' * p + 'x' + '}' * p + ': pass'", id="patterns"),
    ],
)
def test_the_deepest_code_that_is_let_through_is_parsed(code: str) -> None:
    limits = f"b, n, e, p = {MOST_BRACKETS}, {MOST_LINKS}, {MOST_BRANCHES}, {MOST_PATTERNS}"
    script = f"""
import sys
import libcst
from ddplint.source import refusal
from ddplint.source.spans import Spans
{limits}
code = {code} + "\\n"
assert refusal(code.encode()) is None
sys.setrecursionlimit(6000)
Spans(libcst.parse_module(code), code)
print("parsed")
"""

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("parsed\n", "")
