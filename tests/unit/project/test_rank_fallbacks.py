"""Tests of the first rank that say yes without a process group."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.shown import written

HEAD = "import os\nimport torch.distributed as dist\n"
RANK = "def rank():\n    if not dist.is_initialized():\n        return {}\n    return dist.get_rank()\n"
CASES = [
    pytest.param(
        "def first():\n    return not dist.is_initialized() or dist.get_rank() == 0\n", True, id="in one line"
    ),
    pytest.param(
        "def first():\n    if not dist.is_initialized():\n        return True\n    return dist.get_rank() == 0\n",
        True,
        id="in two lines",
    ),
    pytest.param(RANK.format("0") + "def first():\n    return rank() == 0\n", True, id="by a helper that says 0"),
    pytest.param(RANK.format("-1") + "def first():\n    return rank() == 0\n", False, id="by one that says -1"),
    pytest.param(
        RANK.format("int(os.environ['RANK'])") + "def first():\n    return rank() == 0\n", False, id="by the variable"
    ),
    pytest.param("def first():\n    return dist.get_rank() == 0\n", False, id="without a way out"),
]


@pytest.mark.parametrize(("code", "says_yes"), CASES)
def test_tests_that_say_yes_without_a_group(tmp_path: Path, code: str, says_yes: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{code}if first():\n    print()\nfirst()\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    found = [written(test) for test in project.rank_fallbacks.tests(script)]
    assert found == (["first()"] if says_yes else [])
