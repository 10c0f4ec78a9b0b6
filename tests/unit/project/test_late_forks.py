"""Processes that are forked when CUDA has been started, and use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import torch\nimport torch.multiprocessing as mp\ndef gpu(r): torch.zeros(1).cuda()\ndef cpu(r): print(r)\n"
CUDA = "torch.cuda.set_device(0)\n"


def _written_out(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [fork.method is not None for fork in project.late_forks.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{CUDA}mp.Process(target=gpu)\n", [False], id="by default"),
        pytest.param(f"{CUDA}mp.get_context('fork').Process(target=gpu)\n", [True], id="in a context"),
        pytest.param(f"{CUDA}mp.start_processes(gpu, start_method='fork')\n", [True], id="as it is told"),
        pytest.param(
            f"mp.set_start_method('fork')\n{CUDA}mp.Process(target=gpu)\n", [True], id="as the program is told"
        ),
        pytest.param(f"def f(): mp.Process(target=gpu)\n{CUDA}f()\n", [False], id="CUDA is started by the caller"),
        pytest.param(f"mp.Process(target=gpu)\n{CUDA}", [], id="before CUDA is started"),
        pytest.param(f"{CUDA}mp.Process(target=cpu)\n", [], id="for the CPU"),
        pytest.param(f"{CUDA}mp.spawn(gpu, nprocs=2)\n", [], id="spawned"),
        pytest.param(f"mp.set_start_method('spawn')\n{CUDA}mp.Process(target=gpu)\n", [], id="the program spawns"),
        pytest.param("torch.cuda.is_available()\nmp.Process(target=gpu)\n", [], id="the GPUs were only counted"),
    ],
)
def test_late_forks(tmp_path: Path, text: str, expected: list[bool]) -> None:
    assert _written_out(tmp_path, text) == expected
