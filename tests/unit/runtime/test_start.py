"""Who starts the processes of a script, told from its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.runtime.start import Start, start_of

WORKER = "def worker(rank):\n    dist.init_process_group('gloo')\n\n\n"
IMPORTS = "import torch\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n\n\n"
CASES = [
    pytest.param("dist.init_process_group('gloo')\n", Start.LAUNCHER, id="a script that starts a group"),
    pytest.param(WORKER + "mp.spawn(worker, nprocs=2)\n", Start.ITSELF, id="spawn"),
    pytest.param(WORKER + "mp.Process(target=worker, args=(0,)).start()\n", Start.ITSELF, id="Process"),
    pytest.param(
        WORKER + "context = mp.get_context('fork')\ncontext.Process(target=worker, args=(0,)).start()\n",
        Start.ITSELF,
        id="Process of a context",
    ),
    pytest.param(
        "def main():\n    worker(0)\n\n\n" + WORKER + "mp.spawn(main, nprocs=2)\n",
        Start.ITSELF,
        id="spawn of a function that comes to the group",
    ),
    pytest.param(
        "def log(queue):\n    print(queue.get())\n\n\nmp.Process(target=log).start()\n"
        "dist.init_process_group('gloo')\n",
        Start.LAUNCHER,
        id="a process for something else",
    ),
    pytest.param("model = torch.nn.DataParallel(net)\n", Start.ALONE, id="DataParallel"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_start(tmp_path: Path, text: str, expected: Start) -> None:
    script = tmp_path / "train.py"
    script.write_text(IMPORTS + text)
    assert start_of(script, Workspace().project(script)) is expected


def test_the_group_may_be_started_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    (tmp_path / "work.py").write_text(IMPORTS + WORKER)
    script = tmp_path / "train.py"
    script.write_text(IMPORTS + "from work import worker\n\nmp.spawn(worker, nprocs=2)\n")
    assert start_of(script, Workspace().project(script)) is Start.ITSELF
