"""Which errors the code around a place catches."""

from __future__ import annotations

import pytest

from ddplint.semantics.attempts import caught
from ddplint.semantics.parse import parse
from ddplint.source import SourceFile

CASES = [
    pytest.param("try:\n    here()\nexcept OSError:\n    pass", {"OSError"}, id="a name"),
    pytest.param("try:\n    here()\nexcept os.error:\n    pass", {"error"}, id="a dotted name"),
    pytest.param("try:\n    here()\nexcept (OSError, ValueError):\n    pass", {"OSError", "ValueError"}, id="several"),
    pytest.param("try:\n    here()\nexcept:\n    pass", {"BaseException"}, id="a bare one"),
    pytest.param("try:\n    pass\nexcept OSError:\n    here()", set(), id="in the handler"),
    pytest.param("try:\n    here()\nfinally:\n    pass", set(), id="none"),
]


@pytest.mark.parametrize(("code", "names"), CASES)
def test_errors_that_are_caught(code: str, names: set[str]) -> None:
    script = parse(SourceFile.from_bytes(code.encode(), "train.py"))
    assert caught(script.calls[0].region) == names
