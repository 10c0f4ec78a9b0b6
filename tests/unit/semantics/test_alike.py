"""Expressions that are written alike and mean the same."""

from __future__ import annotations

import pytest

from ddplint.semantics.alike import alike
from ddplint.semantics.parse import parse
from ddplint.source import SourceFile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("f(a)\nf(a)\n", True, id="a name"),
        pytest.param("a = 1\nf(a)\na = 2\nf(a)\n", False, id="a name that was given another value"),
        pytest.param("a = 1\nf(a)\nif b:\n    a = 2\nf(a)\n", True, id="a name that may have got another value"),
        pytest.param("f(a)\nf(b)\n", False, id="two names"),
        pytest.param("f(join(a, 'x', k=1))\nf(join(a, 'x', k=1))\n", True, id="a call"),
        pytest.param("f(join(a, 'x'))\nf(join(a, 'y'))\n", False, id="calls with other arguments"),
        pytest.param("f(join(k=a))\nf(join(l=a))\n", False, id="calls with other keywords"),
        pytest.param("f(a.b[0] / 'x')\nf(a.b[0] / 'x')\n", True, id="attributes, items, operations"),
        pytest.param("f(a / b)\nf(a * b)\n", False, id="other operations"),
        pytest.param("f(f'{a}/x')\nf(f'{a}/x')\n", True, id="formatted text"),
        pytest.param("f(f'{a}/x')\nf(f'{a}/y')\n", False, id="other formatted text"),
        pytest.param("f(1)\nf(1.0)\n", False, id="numbers of two types"),
        pytest.param("f(lambda: 1)\nf(lambda: 1)\n", False, id="functions"),
    ],
)
def test_the_arguments_of_the_first_and_the_last_call(text: str, expected: bool) -> None:
    calls = [call for call in parse(SourceFile.from_bytes(text.encode(), "script.py")).calls if call.callee.id == "f"]  # type: ignore[attr-defined]  # all callees are names
    assert alike(calls[0].arguments[0].value, calls[-1].arguments[0].value) is expected
