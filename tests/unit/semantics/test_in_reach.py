"""Names under which a value can be read elsewhere."""

from __future__ import annotations

import pytest

from ddplint.semantics.in_reach import InReach, in_reach
from ddplint.semantics.parse import parse
from ddplint.source import SourceFile

CASES = [
    pytest.param("x = made()\nhere()", InReach("x"), id="a name"),
    pytest.param("x = made() if a else None\nhere()", InReach("x", or_none=True), id="a name, or None"),
    pytest.param("x = None\nif a:\n    x = made()\nhere()", InReach("x", or_none=True), id="None unless a branch runs"),
    pytest.param(
        "if a:\n    x = made()\nelse:\n    x = None\nhere()", InReach("x", or_none=True), id="None in the other branch"
    ),
    pytest.param("if a:\n    x = made()\nhere()", None, id="a name that may not be bound"),
    pytest.param(
        "x = made() if a else other()\nhere()", InReach("x", or_other=True), id="a name that can be something else"
    ),
    pytest.param(
        "x = made()\nif a:\n    x = other()\nhere()", InReach("x", or_other=True), id="a name that may be overwritten"
    ),
    pytest.param(
        "if a:\n    x = made()\nelif b:\n    x = None\nelse:\n    x = other()\nhere()",
        InReach("x", or_none=True, or_other=True),
        id="a name that can be None or something else",
    ),
    pytest.param("x = made()\nx = None\nhere()", None, id="a name that is overwritten"),
    pytest.param("x = made()\ndel x\nhere()", None, id="a name that is deleted"),
    pytest.param("x, y = made()\nhere()", None, id="a part of the value"),
    pytest.param("x = [made()]\nhere()", None, id="a list that holds the value"),
    pytest.param("x = made()\ndef f():\n    here()", None, id="another function"),
    pytest.param("def f():\n    x = made()\n    for i in y:\n        here()", InReach("x"), id="a loop"),
    pytest.param("for i in y:\n    here()\n    x = made()", None, id="the next pass of a loop only"),
    pytest.param("here(made())", None, id="no name at all"),
]


@pytest.mark.parametrize(("code", "answer"), CASES)
def test_the_name_of_a_value(code: str, answer: InReach | None) -> None:
    script = parse(SourceFile.from_bytes(code.encode(), "train.py"))
    made, here = (
        next(call for call in script.calls if getattr(call.callee, "id", "") == name) for name in ("made", "here")
    )
    assert in_reach(made, here) == answer
