"""CUDA_VISIBLE_DEVICES that does not do what it is set for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.visible_devices import VisibleMisuse

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n"
INIT = "dist.init_process_group('nccl')\n"
SET = "os.environ['CUDA_VISIBLE_DEVICES'] = "


def _misuses(tmp_path: Path, text: str) -> list[VisibleMisuse]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [use.misuse for use in project.visible_devices.misuses(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "ids = os.environ['CUDA_VISIBLE_DEVICES'].split(',')\ntorch.cuda.set_device(int(ids[0]))\n",
            [VisibleMisuse.ORDINAL],
            id="an id is an index",
        ),
        pytest.param(
            f"gpu = input()\n{SET}gpu\nt.cuda(int(gpu))\n", [VisibleMisuse.ORDINAL], id="the number that was set"
        ),
        pytest.param(f"t.cuda()\n{SET}'0,1'\n", [VisibleMisuse.LATE], id="set after a move to the GPU"),
        pytest.param(f"t.to('cuda')\n{SET}'0,1'\n", [VisibleMisuse.LATE], id="set after a move by name"),
        pytest.param(f"{SET}'0'\n{INIT}", [VisibleMisuse.PINNED], id="one GPU for every process"),
        pytest.param(f"{SET}'0,1'\n{INIT}t.cuda()\n", [], id="set before"),
        pytest.param(f"def f(): t.cuda()\n{SET}'0,1'\n", [], id="nobody says when the function runs"),
        pytest.param(f"if t: t.cuda()\n{SET}'0,1'\n", [], id="it may not have run"),
        pytest.param(f"if t:\n    {SET}'0'\n{INIT}", [], id="one GPU where a switch says so"),
        pytest.param(f"gpu = input()\n{SET}gpu\ngpu = 0\nt.cuda(gpu)\n", [], id="another number by then"),
        pytest.param("n = len(os.environ['CUDA_VISIBLE_DEVICES'])\nt.cuda(n - 1)\n", [], id="the number of ids"),
    ],
)
def test_misuses_of_the_variable(tmp_path: Path, text: str, expected: list[VisibleMisuse]) -> None:
    assert _misuses(tmp_path, text) == expected
