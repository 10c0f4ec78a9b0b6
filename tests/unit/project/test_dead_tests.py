"""Tests of the rank that come out the same on every rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import os\nimport torch.distributed as dist\nrank = int(os.environ['RANK'])\n"


def _found(tmp_path: Path, text: str) -> list[tuple[str, bool]]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [(dead.why.name, dead.holds) for dead in project.dead_tests.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x = os.environ['RANK'] == 0\n", [("TEXT", False)], id="text and a number"),
        pytest.param("x = 0 != os.getenv('RANK')\n", [("TEXT", True)], id="a number and text"),
        pytest.param("x = os.environ.get('RANK', 0) in (0, 1)\n", [("TEXT", False)], id="with a default"),
        pytest.param("x = rank == '0'\n", [("NUMBER", False)], id="a number and text in quotes"),
        pytest.param("x = rank != [0]\n", [("LIST", True)], id="a number and a list"),
        pytest.param("x = rank == dist.get_world_size()\n", [("WORLD_SIZE", False)], id="as large as the world"),
        pytest.param("x = rank == 0 and rank == 1\n", [("CONTRADICTION", False)], id="two numbers at once"),
        pytest.param("x = int(rank / 2) == 0 and int(rank % 2) == 1\n", [], id="two numbers, each of its own"),
        pytest.param("x = rank == 0 or rank == 1\n", [], id="one of two numbers"),
        pytest.param("x = rank == 0 and rank == 0\n", [], id="the same number twice"),
        pytest.param("x = rank in [0]\n", [], id="one of a list"),
        pytest.param("x = os.environ.get('RANK', -1) == -1\n", [], id="whether there is a rank"),
        pytest.param("x = os.environ['WORLD_SIZE'] == 1\n", [], id="text that is no rank"),
    ],
)
def test_what_tells_no_rank_apart(tmp_path: Path, text: str, expected: list[tuple[str, bool]]) -> None:
    assert _found(tmp_path, text) == expected
