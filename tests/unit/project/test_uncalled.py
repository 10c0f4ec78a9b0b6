"""Questions about the rank that are never asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.shown import written

HEAD = "import torch.distributed as dist\ndef is_first():\n    return dist.get_rank() == 0\n"


def _found(tmp_path: Path, text: str) -> list[tuple[str, bool, bool]]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [(written(one.at), one.compared, one.answers) for one in project.uncalled_guards.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("if is_first:\n    f()\n", [("is_first", False, False)], id="a helper, before there is a group"),
        pytest.param(
            "dist.init_process_group('gloo')\nif is_first:\n    f()\n", [("is_first", False, True)], id="a helper"
        ),
        pytest.param("if dist.is_initialized:\n    f()\n", [("dist.is_initialized", False, True)], id="of torch"),
        pytest.param("x = dist.get_rank == 0\n", [("dist.get_rank", True, False)], id="compared with a number"),
        pytest.param("if is_first():\n    f()\n", [], id="called"),
        pytest.param("if is_first is None:\n    f()\n", [], id="asked whether it is there"),
        pytest.param("is_first = is_first()\nif is_first:\n    f()\n", [], id="the answer under the same name"),
        pytest.param("def f():\n    return 1\nif f:\n    f()\n", [], id="a function of something else"),
        pytest.param("@hook\ndef get_rank():\n    pass\nif get_rank:\n    f()\n", [], id="an unknown decorator"),
    ],
)
def test_functions_in_tests(tmp_path: Path, text: str, expected: list[tuple[str, bool, bool]]) -> None:
    assert _found(tmp_path, text) == expected
