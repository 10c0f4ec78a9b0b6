"""Programs that put something else in the place of ``print``."""

from __future__ import annotations

import pytest

from ddplint.project.output import replaces_print


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"builtins.print = quiet", True, id="the builtin, assigned"),
        pytest.param(b"import builtins as __builtin__\n__builtin__.print = print", True, id="under its old name"),
        pytest.param(b"setattr(builtins, 'print', quiet)", True, id="set by name"),
        pytest.param(b'__builtins__["print"] = quiet', True, id="set as an item"),
        pytest.param(b"sys.stdout = open(os.devnull, 'w')", True, id="the output redirected"),
        pytest.param(b"builtin_print = builtins.print", False, id="the builtin, read"),
        pytest.param(b"if builtins.print == print: pass", False, id="the builtin, compared"),
        pytest.param(b"my_builtins.print = 1", False, id="something else of a similar name"),
        pytest.param(b"sys.stdout.write('x')", False, id="the output, used"),
    ],
)
def test_a_replaced_print_is_seen(text: bytes, expected: bool) -> None:
    assert replaces_print(text) is expected
