"""Which code every process of a group comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Call, Name

HEAD = """
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

def join(rank):
    dist.init_process_group('nccl', rank=rank)

"""
ALL = [
    pytest.param("dist.init_process_group('nccl')\nhere()\n", id="after the start, outside functions"),
    pytest.param("def main(rank):\n    join(rank)\n    assert rank < 8\n    here()\n", id="behind a bound on the rank"),
    pytest.param("def main():\n    dist.init_process_group('nccl')\n    here()\n", id="after the start"),
    pytest.param("def main(rank):\n    join(rank)\n    here()\n", id="after a helper that starts"),
    pytest.param(
        "def main(args):\n    if args.distributed:\n        join(args.rank)\n    here()\n", id="after a start by option"
    ),
    pytest.param(
        "def main(args):\n    join(args.rank)\n    if args.world_size > 1:\n        here()\n",
        id="where there are several processes",
    ),
    pytest.param(
        "def f(profile=False):\n    if profile:\n        here()\ndef main(args):\n    join(0)\n    f(args.profile)\n",
        id="under a switch that all ranks get",
    ),
    pytest.param(
        "def f(path=None):\n    if path is None:\n        here()\ndef main():\n    join(0)\n    f()\n",
        id="where a parameter is left out",
    ),
    pytest.param(
        "def main(rank):\n    join(rank)\n    if rank != 0:\n        dist.barrier()\n    prepare()\n"
        "    if rank == 0:\n        dist.barrier()\n    here()\n",
        id="behind the barriers that let one rank go first",
    ),
    pytest.param("def main(m):\n    m = DDP(m)\n    for b in m:\n        here()\n", id="beside a wrapped model"),
    pytest.param("def main(x):\n    here()\n    dist.all_reduce(x)\n", id="before a collective"),
    pytest.param(
        "def f():\n    here()\ndef main():\n    join(0)\n    f()\n", id="in a function called after the start"
    ),
    pytest.param(
        "def f():\n    here()\ndef main(rank):\n    join(rank)\n    f()\n    if rank == 0:\n        f()\n",
        id="in a function called with and without a test of the rank",
    ),
    pytest.param(
        "def work(rank):\n    join(rank)\n    step()\ndef step():\n    here()\nmp.spawn(work, nprocs=2)\n",
        id="in a function that a spawned one calls",
    ),
    pytest.param("def work(rank):\n    here()\n    join(rank)\nmp.spawn(work, nprocs=2)\n", id="in a spawned function"),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.m = DDP(1)\n    def run(self):\n        here()\n"
        "def main():\n    join(0)\n    T().run()\n",
        id="in a method called after the start",
    ),
]
NOT_ALL = [
    pytest.param("here()\ndist.init_process_group('nccl')\n", id="before the start"),
    pytest.param("def main():\n    here()\n    join(0)\n    DDP(1)\n", id="before the start, beside a wrapped model"),
    pytest.param("def f():\n    here()\n", id="in a function that nobody is seen to call"),
    pytest.param("def main(rank):\n    join(rank)\n    if rank == 0:\n        here()\n", id="under a test of the rank"),
    pytest.param(
        "def f():\n    here()\ndef main(rank):\n    join(rank)\n    if rank == 0:\n        f()\n",
        id="in a function called under a test of the rank",
    ),
    pytest.param(
        "def main():\n    try:\n        join(0)\n    except OSError:\n        here()\n", id="on an error path"
    ),
    pytest.param(
        "def main(args):\n    if args.distributed:\n        join(0)\n    else:\n        here()\n",
        id="in the branch for one process",
    ),
    pytest.param(
        "def main(args):\n    join(0)\n    if not args.distributed:\n        here()\n", id="where there is one process"
    ),
    pytest.param(
        "def main(a):\n    join(0)\n    if not a.standalone:\n        pass\n    else:\n        here()\n",
        id="where a switch says that there is one process",
    ),
    pytest.param(
        "def main(a):\n    if a.rank != -1:\n        assert not a.tune\n        dist.init_process_group('nccl')\n"
        "    if not a.tune:\n        pass\n    else:\n        here()\n",
        id="where a switch is needed that the start of the group forbids",
    ),
    pytest.param(
        "def main(writer):\n    join(0)\n    if writer is not None:\n        here()\n",
        id="where one rank may have a writer",
    ),
    pytest.param(
        "def main(cfg):\n    join(0)\n    if cfg.enable_fsdp:\n        pass\n    else:\n        here()\n",
        id="where nothing is sharded",
    ),
    pytest.param("def main(verbose):\n    join(0)\n    if verbose:\n        here()\n", id="under a switch to speak"),
    pytest.param(
        "def work(rank):\n    join(rank)\ndef main(one):\n    if one:\n        work(0)\n    else:\n"
        "        mp.spawn(work, nprocs=2)\n    here()\n",
        id="in the parent of the processes",
    ),
    pytest.param(
        "def work(rank):\n    join(rank)\ndef main():\n    mp.spawn(work, nprocs=2)\nmain()\nhere()\n",
        id="behind a function that spawns",
    ),
    pytest.param(
        "def work(index):\n    here()\nmp.spawn(work, nprocs=2)\n", id="in spawned workers that form no group"
    ),
    pytest.param("def main(rank):\n    join(rank)\n    assert rank == -1\n    here()\n", id="behind an asserted rank"),
    pytest.param("def main():\n    join(0)\n    with zero_first(0):\n        here()\n", id="where one rank goes first"),
    pytest.param(
        "def main(rank):\n    join(rank)\n    if rank != 0:\n        dist.barrier()\n    here()\n"
        "    if rank == 0:\n        dist.barrier()\n",
        id="between the barriers behind which one rank goes first",
    ),
    pytest.param(
        "def main(rank):\n    join(rank)\n    if rank not in (-1, 0):\n        dist.barrier()\n    f()\n"
        "    if rank == 0:\n        dist.barrier()\ndef f():\n    here()\n",
        id="in a function that is called between these barriers",
    ),
    pytest.param(
        "def f(profile=False):\n    if profile:\n        here()\ndef main():\n    join(0)\n    f()\n",
        id="under a switch that callers leave off",
    ),
    pytest.param(
        "def f(first):\n    if first:\n        here()\ndef main(rank):\n    join(rank)\n    f(rank == 0)\n",
        id="under a switch that is a test of the rank",
    ),
    pytest.param("dist.destroy_process_group()\nhere()\n", id="beside the end of a group alone"),
]
EARLY = [
    pytest.param("here()\ndist.init_process_group('nccl')\n", True, id="before the start"),
    pytest.param("def main():\n    join(0)\nhere()\nmain()\n", True, id="before the function that starts"),
    pytest.param(
        "def f():\n    here()\ndef main():\n    f()\n    join(0)\n", True, id="in a function called before it"
    ),
    pytest.param("def main():\n    join(0)\n    here()\n", True, id="after the start"),
    pytest.param("def main():\n    if rank == 0:\n        here()\n    join(0)\n", False, id="under a test of the rank"),
    pytest.param("tb = True\njoin(0)\nif tb:\n    here()\n", True, id="under a constant named as a switch to speak"),
    pytest.param("def main(log):\n    join(0)\n    if log:\n        here()\n", False, id="under a switch to speak"),
    pytest.param(
        "class L:\n    def __init__(self, on):\n        self.on = on\n        if self.on:\n            here()\n"
        "join(0)\nL(rank == 0)\nL(True)\n",
        False,
        id="under an attribute that one caller makes a test of the rank",
    ),
    pytest.param(
        "distributed = False\nif distributed:\n    join(0)\n    rank = dist.get_rank()\nelse:\n    rank = 0\n"
        "if rank == 0:\n    here()\n",
        False,
        id="under a test of the rank in a script that the user switches",
    ),
    pytest.param(
        "def work(rank):\n    join(rank)\ndef main():\n    here()\n    mp.spawn(work, nprocs=2)\n",
        False,
        id="in the parent of the processes",
    ),
]
STARTED = [
    pytest.param("def main():\n    dist.init_process_group('nccl')\n    here()\n", True, id="after the start"),
    pytest.param("def main():\n    join(0)\n    here()\n", True, id="after a helper that always starts"),
    pytest.param("def f():\n    here()\ndef main():\n    join(0)\n    f()\n", True, id="in a function called after it"),
    pytest.param("def main(d):\n    if d:\n        join(0)\n    here()\n", False, id="after a start by option"),
    pytest.param("def main(d):\n    if d:\n        join(0)\n        here()\n", True, id="under the option that starts"),
    pytest.param(
        "def f():\n    here()\ndef main():\n    join(0)\n    f()\ndef other():\n    f()\n",
        False,
        id="in a function that is also called elsewhere",
    ),
    pytest.param("def main():\n    here()\n    join(0)\n", False, id="before the start"),
]


@pytest.mark.parametrize("code", ALL)
def test_every_process_comes_here(code: str, tmp_path: Path) -> None:
    project, here = _here(code, tmp_path)
    assert project.processes.all_come_to(here)


@pytest.mark.parametrize("code", NOT_ALL)
def test_not_every_process_certainly_comes_here(code: str, tmp_path: Path) -> None:
    project, here = _here(code, tmp_path)
    assert not project.processes.all_come_to(here)


@pytest.mark.parametrize(("code", "expected"), EARLY)
def test_every_process_comes_here_be_it_before_the_start(code: str, expected: bool, tmp_path: Path) -> None:
    project, here = _here(code, tmp_path)
    assert project.processes.all_come_to(here, early=True) is expected


@pytest.mark.parametrize(("code", "expected"), STARTED)
def test_the_group_is_certainly_there(code: str, expected: bool, tmp_path: Path) -> None:
    project, here = _here(code, tmp_path)
    assert project.processes.certainly_started(here) is expected


def _here(code: str, folder: Path) -> tuple[Project, Call]:
    path = folder / "main.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, next(call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("here()\ndist.init_process_group('nccl')\n", True, id="before the start"),
        pytest.param("here()\njoin(0)\n", True, id="before a helper that starts"),
        pytest.param("join(0)\nhere()\n", False, id="after it"),
        pytest.param("here()\n", False, id="without a start"),
        pytest.param("if a:\n    here()\njoin(0)\n", False, id="on a way of its own"),
        pytest.param("here()\nif a:\n    join(0)\n", True, id="before a start that not all runs come to"),
        pytest.param("for _ in x:\n    here()\n    join(0)\n", False, id="in a loop"),
    ],
)
def test_what_is_done_before_a_start(code: str, expected: bool, tmp_path: Path) -> None:
    project, call = _here(code, tmp_path)
    assert (project.processes.later_start(call) is not None) is expected
