"""What a script tests."""

from __future__ import annotations

import pytest

from ddplint.semantics import Comparison, Script
from ddplint.semantics.parse import parse
from ddplint.semantics.shown import written
from ddplint.semantics.tested import asked_for_truth, parts_of
from ddplint.source import SourceFile


def _script(text: str) -> Script:
    return parse(SourceFile.from_bytes(text.encode(), "script.py"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("if a:\n    b()\n", ["a"], id="a branch"),
        pytest.param("while not a:\n    b()\n", ["a"], id="a loop, negated"),
        pytest.param("assert a, b\n", ["a"], id="an assertion"),
        pytest.param("if a and not (b or c):\n    d()\n", ["a", "b", "c"], id="the operands of a test"),
        pytest.param("x = a or b\n", ["a"], id="a default: the last operand is handed on"),
        pytest.param("x = 1 if a else b\n", ["a"], id="a choice"),
        pytest.param("f(not a, b)\n", ["a"], id="an argument"),
        pytest.param("x = [b for b in c if a]\n", ["a"], id="a comprehension"),
        pytest.param("if a == 1:\n    b()\n", ["a == 1"], id="a comparison, whole"),
        pytest.param("def f():\n    return not a\n", ["a"], id="what is returned"),
        pytest.param("x = a\nf(b)\n", [], id="no test"),
    ],
)
def test_what_is_asked_for_its_truth(text: str, expected: list[str]) -> None:
    assert [written(part) for part in asked_for_truth(_script(text))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("if a == 1 and b < 2:\n    c()\n", ["a == 1", "b < 2"], id="in a test"),
        pytest.param("x = a == 1\ny.z = b in c\n", ["a == 1", "b in c"], id="given a name or an attribute"),
        pytest.param("f(g(a == 1))\n", ["a == 1"], id="in an argument of an argument, once"),
        pytest.param("f(a)\n", [], id="none"),
    ],
)
def test_comparisons_are_found(text: str, expected: list[str]) -> None:
    assert [written(part) for part in parts_of(_script(text), Comparison)] == expected
