"""Loops that run unequally often on the ranks, though all meet in each round."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = (
    "import torch.distributed as dist\ndist.init_process_group('nccl')\nr, n = dist.get_rank(), dist.get_world_size()\n"
)
MEET = "dist.all_reduce(x)\n"


def _doubts(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [loop.doubtful for loop in project.uneven_loops.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"for i in range(r): {MEET}", [False], id="as often as the rank"),
        pytest.param(f"for i in range(r, m, n): {MEET}", [False], id="every n-th number from the rank on"),
        pytest.param(f"for i in range(r, m): {MEET}", [False], id="from the rank on"),
        pytest.param(f"for i in range(r):\n    if m: break\n    {MEET}", [True], id="something else ends it"),
        pytest.param(f"for i in range(n): {MEET}", [], id="as often as there are ranks"),
        pytest.param(f"for i in range(r, r + n): {MEET}", [], id="a window that moves with the rank"),
        pytest.param(f"for i in range(r, m // n * n, n): {MEET}", [], id="a count that is divisible"),
        pytest.param(
            f"for i in range(r): {MEET}for i in range(n - r): {MEET}", [], id="two that make up for each other"
        ),
        pytest.param("for i in range(r): print(i)\n", [], id="nobody meets"),
        pytest.param(f"while True: {MEET}", [], id="for ever"),
    ],
)
def test_loops_that_run_unequally_often(tmp_path: Path, text: str, expected: list[bool]) -> None:
    assert _doubts(tmp_path, text) == expected
