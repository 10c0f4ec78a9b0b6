"""Shares that ranks take for themselves and that need not be equally long."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = (
    "import torch.distributed as dist\ndist.init_process_group('nccl')\nr, n = dist.get_rank(), dist.get_world_size()\n"
)
LOOP = "for x in {share}:\n    dist.all_reduce(x)\n"


def _doubts(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [share.doubtful for share in project.uneven_shares.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LOOP.format(share="xs[r::n]"), [False], id="the loop runs over the slice"),
        pytest.param(LOOP.format(share="enumerate(xs[r::n])"), [False], id="it counts the items"),
        pytest.param("mine = xs[r::n]\n" + LOOP.format(share="mine"), [False], id="the share has a name"),
        pytest.param(LOOP.format(share="[x for i, x in enumerate(xs) if i % n == r]"), [False], id="picked by number"),
        pytest.param(
            "from itertools import islice\n" + LOOP.format(share="islice(xs, r, None, n)"),
            [False],
            id="from an iterator",
        ),
        pytest.param(
            "import numpy as np\n" + LOOP.format(share="np.array_split(xs, n)[r]"), [False], id="split into parts"
        ),
        pytest.param(LOOP.format(share="[x for x in xs if x % n == 0]"), [], id="all ranks pick the same"),
        pytest.param(LOOP.format(share="xs[r::n]") + "    if x: break\n", [True], id="something ends the loop"),
        pytest.param(LOOP.format(share="xs[:len(xs) // n * n][r::n]"), [], id="what is left over is cut off"),
        pytest.param(f"assert len(xs) % n == 0\n{LOOP.format(share='xs[r::n]')}", [], id="the length is checked"),
        pytest.param(LOOP.format(share="xs[r:8:n]"), [], id="the slice has an end"),
        pytest.param(LOOP.format(share="xs[0::2]"), [], id="all ranks take the same"),
        pytest.param("for x in xs[r::n]:\n    print(x)\n", [], id="nobody meets in the loop"),
        pytest.param("for x in xs[r::n]:\n    if r == 0: dist.barrier()\n", [], id="not all ranks meet in the loop"),
    ],
)
def test_shares_that_need_not_be_equally_long(tmp_path: Path, text: str, expected: list[bool]) -> None:
    assert _doubts(tmp_path, text) == expected
