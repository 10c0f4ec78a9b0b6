"""Places that no pass goes through together."""

from __future__ import annotations

import pytest

from ddplint.semantics.conditions import contradict
from ddplint.semantics.parse import parse
from ddplint.source import SourceFile

CASES = [
    pytest.param("if a:\n    one()\nelse:\n    two()", True, id="arms of one fork"),
    pytest.param("if a:\n    one()\nif not a:\n    two()", True, id="opposite tests"),
    pytest.param("if a is None:\n    one()\nif a is not None:\n    two()", True, id="opposite comparisons"),
    pytest.param("if a and b:\n    one()\nif not b:\n    two()", True, id="one part says the opposite"),
    pytest.param("if a or b:\n    one()\nif not b:\n    two()", False, id="another part may hold"),
    pytest.param("if a:\n    one()\nif a:\n    two()", False, id="the same test"),
    pytest.param("one()\nif a:\n    two()", False, id="one of them always"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_regions_that_contradict(code: str, expected: bool) -> None:
    one, two = parse(SourceFile.from_bytes(code.encode(), "train.py")).calls
    assert contradict(one.region, two.region) is expected
    assert contradict(two.region, one.region) is expected
