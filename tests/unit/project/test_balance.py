"""Which collectives under a test of the rank are not answered by the other ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.project import Project
from ddplint.semantics import Script

HEAD = """import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

"""
LOPSIDED = [
    pytest.param("if rank == 0:\n    dist.barrier()", ["barrier"], id="a barrier on one rank"),
    pytest.param("if rank != 0:\n    pass\nelse:\n    dist.barrier()", ["barrier"], id="in the other arm"),
    pytest.param("rank == 0 and dist.barrier()", ["barrier"], id="behind a short circuit"),
    pytest.param("if rank == 0:\n    dist.barrier()\ndist.barrier()", ["barrier"], id="one more than the others"),
    pytest.param(
        "def save():\n    dist.barrier()\nif rank == 0:\n    save()", ["barrier"], id="inside what one rank calls"
    ),
    pytest.param(
        "if rank == 0:\n    dist.all_reduce(x)\nelse:\n    dist.barrier()", ["all_reduce", "barrier"], id="two kinds"
    ),
    pytest.param(
        "if rank in (0, 1):\n    g = dist.new_group([0, 1])", ["new_group"], id="a group that only its members make"
    ),
    pytest.param("@rank_zero_only\ndef f():\n    dist.barrier()", ["barrier"], id="under a decorator"),
    pytest.param(
        "m = DDP(nn.Linear(1, 1))\nif rank == 0:\n    m(x)", ["forward of DistributedDataParallel"], id="a forward"
    ),
    pytest.param(
        "def test(m):\n    return m(x)\nm = DDP(nn.Linear(1, 1))\ntest(load())\nif rank == 0:\n    test(m)",
        ["forward of DistributedDataParallel"],
        id="a forward in a function that others give a bare model",
    ),
    pytest.param(
        "if rank == 0:\n    m = DDP(nn.Linear(1, 1))", ["construction of DistributedDataParallel"], id="the wrap itself"
    ),
    pytest.param(
        "class Loss(nn.Module):\n    def forward(self, x):\n        dist.all_reduce(x)\n"
        "loss = Loss()\nif rank == 0:\n    loss(x)",
        ["all_reduce"],
        id="in a module's forward",
    ),
    pytest.param(
        "def first(rank):\n    if rank not in (-1, 0):\n        dist.barrier()\n    yield\n"
        "    if rank == 0:\n        dist.barrier()\n"
        "if rank == 0:\n    with first(rank):\n        work()",
        ["barrier"],
        id="a pair of barriers of which one rank alone runs its half",
    ),
    pytest.param(
        "if rank == 0:\n    dist.barrier(group=dist.group.WORLD)", ["barrier"], id="the group of all, written out"
    ),
]
LOPSIDED += [
    pytest.param(
        "def save(show):\n    if show:\n        dist.barrier()\nsave(rank == 0)",
        ["barrier"],
        id="under a test handed over",
    ),
    pytest.param(
        "def once(fn):\n    def run():\n        if rank == 0:\n            fn()\n    return run\n"
        "@once\ndef save():\n    dist.barrier()",
        ["barrier"],
        id="under a decorator of the script",
    ),
    pytest.param(
        "log = W() if rank == 0 else None\nif log is not None:\n    dist.barrier()", ["barrier"], id="by None"
    ),
]
BALANCED = [
    pytest.param(
        "if not in_turn and rank == 0:\n    work()\nelif in_turn:\n    for r in range(n):\n        if r == rank:\n"
        "            work()\n        dist.barrier()",
        id="behind a test of the rank that can't have held",
    ),
    pytest.param("for r in range(n):\n    if r == rank:\n        dist.barrier()", id="each rank in its turn"),
    pytest.param("dist.barrier()", id="all ranks"),
    pytest.param("if args.sync:\n    dist.barrier()", id="a test that is no test of ranks"),
    pytest.param("if local_rank != -1:\n    dist.barrier()", id="-1 stands for a run without ranks"),
    pytest.param("if rank == 0:\n    dist.gather(x, [y])\nelse:\n    dist.gather(x)", id="both arms"),
    pytest.param(
        "if rank != 0:\n    dist.barrier()\nwork()\nif rank == 0:\n    dist.barrier()", id="the first one first"
    ),
    pytest.param(
        "if local_rank not in (-1, 0) and not evaluate:\n    dist.barrier()\nwork()\n"
        "if local_rank == 0 and not evaluate:\n    dist.barrier()",
        id="the first one first, under a switch",
    ),
    pytest.param(
        "def f():\n    if rank != 0:\n        dist.barrier()\n        return\n    work()\n    dist.barrier()",
        id="the other half after an early return",
    ),
    pytest.param(
        "def before():\n    if rank != 0:\n        dist.barrier()\n"
        "def after():\n    if rank == 0:\n        dist.barrier()\nbefore()\nwork()\nafter()",
        id="the halves in two functions",
    ),
    pytest.param(
        "def before():\n    if rank != 0:\n        dist.barrier()\nbefore()\nwork()\nif rank == 0:\n    dist.barrier()",
        id="one half in a function, the other in its caller",
    ),
    pytest.param(
        "class First:\n    def __enter__(self):\n        if rank != 0:\n            dist.barrier()\n"
        "    def __exit__(self, *a):\n        if rank == 0:\n            dist.barrier()",
        id="the halves in a context manager's methods",
    ),
    pytest.param(
        "def first(local_rank):\n    if local_rank not in (-1, 0):\n        dist.barrier()\n    yield\n"
        "    if local_rank == 0:\n        dist.barrier()\n"
        "def load(rank):\n    with first(rank):\n        work()\n"
        "if rank in (-1, 0):\n    load(rank=-1)\nload(rank)",
        id="a pair of barriers that is told to keep out",
    ),
    pytest.param("if rank < 2:\n    dist.all_reduce(x, group=pair)", id="a group of some ranks"),
    pytest.param("if rank < 2:\n    dist.all_reduce(x, dist.ReduceOp.SUM, pair)", id="that group, by place"),
    pytest.param(
        "if rank < 2:\n    dist.init_process_group('gloo', rank=rank, world_size=2)", id="who makes the group"
    ),
    pytest.param(
        "if rank == 0:\n    dist.new_group([0], use_local_synchronization=True)",
        id="a group that needs its members only",
    ),
    pytest.param("if rank == 0:\n    dist.send(x, 1)\nelse:\n    dist.recv(x, 0)", id="a message"),
    pytest.param("m = DDP(nn.Linear(1, 1))\nif rank == 0:\n    m.module(x)", id="a forward past the wrapper"),
    pytest.param(
        "def test(m):\n    return m(x)\nm = DDP(nn.Linear(1, 1))\ntest(m)\nif rank == 0:\n    test(m.module)",
        id="a forward past the wrapper, in a function",
    ),
    pytest.param(
        "def f():\n    if rank != 0:\n        return\n    dist.barrier()", id="an early exit: the exit's matter"
    ),
    pytest.param("if rank == 0:\n    def f():\n        dist.barrier()", id="a function that is only defined there"),
    pytest.param("for rank in range(world_size):\n    if rank == 0:\n        dist.barrier()", id="every rank counts"),
]


def opened(tmp_path: Path, code: str) -> tuple[Project, Script]:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


def lopsided(project: Project, script: Script) -> list[str]:
    return [
        found.site.kind
        for function in (None, *script.functions)
        for found in project.balance.lopsided(function, script)
    ]


@pytest.mark.parametrize(("code", "kinds"), LOPSIDED)
def test_collectives_that_some_ranks_miss(code: str, kinds: list[str], tmp_path: Path) -> None:
    assert lopsided(*opened(tmp_path, code)) == kinds


DOUBTFUL = [
    pytest.param("def f():\n    if args.sync:\n        dist.barrier()\nif rank == 0:\n    f()", True, id="a switch"),
    pytest.param(
        "def f():\n    if ddp_prevent_block():\n        return\n    dist.barrier()\nif rank == 0:\n    f()",
        True,
        id="a switch that decides about an early exit",
    ),
    pytest.param(
        "def f():\n    if not dist.is_initialized():\n        return\n    dist.barrier()\nif rank == 0:\n    f()",
        False,
        id="a way out for runs with one process",
    ),
]


@pytest.mark.parametrize(("code", "doubtful"), DOUBTFUL)
def test_collectives_that_a_switch_decides_on(code: str, doubtful: bool, tmp_path: Path) -> None:
    project, script = opened(tmp_path, code)
    [found] = project.balance.lopsided(None, script)
    assert found.doubtful is doubtful


@pytest.mark.parametrize("code", BALANCED)
def test_collectives_that_all_ranks_come_to(code: str, tmp_path: Path) -> None:
    assert lopsided(*opened(tmp_path, code)) == []
