"""Which tests ask for the rank, and what they guard."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Name

GUARDED = [
    pytest.param("if rank == 0:\n    here()", id="the plain test"),
    pytest.param("if not args.local_rank:\n    here()", id="a negated attribute"),
    pytest.param("if rank in [-1, 0]:\n    here()", id="membership"),
    pytest.param("if dist.get_rank() == 0:\n    here()", id="get_rank"),
    pytest.param("if is_main_process():\n    here()", id="a helper by its name"),
    pytest.param("def f():\n    if rank != 0:\n        return\n    here()", id="an early return"),
    pytest.param("for x in y:\n    if rank > 0:\n        continue\n    here()", id="an early continue"),
    pytest.param("rank == 0 and here()", id="a short circuit"),
    pytest.param("here() if rank == 0 else None", id="a conditional expression"),
    pytest.param("flag = rank == 0\nif flag:\n    here()", id="a flag"),
    pytest.param("log = W() if rank == 0 else None\nif log is not None:\n    here()", id="None on the other ranks"),
    pytest.param(
        "def first():\n    return get_rank() == 0\nif first():\n    here()", id="a helper that returns the test"
    ),
    pytest.param("if not args.d or (args.d and args.rank % n == 0):\n    here()", id="the composite test of imagenet"),
    pytest.param("if args.gpu == 0:\n    here()", id="the GPU's number stands for the rank"),
    pytest.param("if int(os.environ['LOCAL_RANK']) == 0:\n    here()", id="the environment"),
    pytest.param("if opt['rank'] == 0:\n    here()", id="an option kept in a dict"),
    pytest.param("if rank == 0:\n    [here() for x in y]", id="a test around a comprehension"),
    pytest.param("@rank_zero_only\ndef f():\n    here()", id="a decorator"),
    pytest.param("def f():\n    here()\nif rank == 0:\n    f()", id="a function that is only called under a guard"),
    pytest.param(
        "class T:\n    def f(self):\n        here()\n    def g(self):\n        if self.rank == 0: self.f()",
        id="a method that is only called under a guard",
    ),
    pytest.param("args.save = args.x and is_master(args)\nif args.save:\n    here()", id="a flag kept in an attribute"),
]
GUARDED += [
    pytest.param(
        "import torch.distributed as dist\nr = dist.get_rank()\nif r == 0:\n    here()", id="the rank under any name"
    ),
    pytest.param(
        "import os\nme = int(os.environ['RANK'])\nif me == 0:\n    here()", id="the environment under any name"
    ),
    pytest.param(
        "import torch.multiprocessing as mp\ndef work(i):\n    if i == 0:\n        here()\nmp.spawn(work, args=())",
        id="the index of a spawned process",
    ),
]
GUARDED += [
    pytest.param("if fabric.is_global_zero:\n    here()", id="the first rank of a fabric"),
    pytest.param("if state.is_world_process_zero:\n    here()", id="the first process of a trainer"),
    pytest.param("if accelerator.is_last_process:\n    here()", id="the last process"),
    pytest.param("def f(show):\n    if show:\n        here()\nf(rank == 0)", id="a test handed to a function"),
    pytest.param("def f(show=rank == 0):\n    if show:\n        here()\nf()", id="a test as a default"),
    pytest.param(
        "def f(log=None):\n    if log:\n        here()\nf(W() if rank == 0 else None)", id="None handed to the others"
    ),
    pytest.param("if local_rank == -1:\n    here()", id="a run without ranks: nobody else comes here"),
]
FREE = [
    pytest.param("here()", id="nothing around it"),
    pytest.param("if world_size > 1:\n    here()", id="the world size is equal on all ranks"),
    pytest.param("if dist.is_initialized():\n    here()", id="so is whether a group exists"),
    pytest.param("if epoch % 10 == 0:\n    here()", id="so is the epoch"),
    pytest.param("if args.master_port is None:\n    here()", id="the master's port is no rank"),
    pytest.param("if args.gpu is not None:\n    here()", id="whether a GPU was named is no rank"),
    pytest.param("def f():\n    here()\nif rank == 0:\n    f()\nf()", id="one unguarded call of the function"),
    pytest.param("if rank == 0:\n    pass\nhere()", id="after the guarded block"),
    pytest.param("if opt['mode'] == 'master':\n    here()", id="a word that is compared, not asked for"),
    pytest.param("if local_rank != -1:\n    here()", id="every rank of a run that has ranks"),
    pytest.param("if rank >= 0:\n    here()", id="a bound that every rank keeps"),
    pytest.param("if 'RANK' in os.environ:\n    here()", id="whether there is a rank"),
    pytest.param("if is_main_loss:\n    here()", id="a word that goes on after main"),
    pytest.param("if lora_rank == 8:\n    here()", id="the rank of a matrix"),
    pytest.param(
        "def f(show):\n    if show:\n        here()\nf(rank == 0)\nf(True)", id="one call that lets all ranks in"
    ),
    pytest.param("def f():\n    here()\nif rank == 0:\n    f()\nelse:\n    f()", id="called in either arm"),
    pytest.param("frank = 1\nif frank == 0:\n    here()", id="rank inside another word"),
]


def _guarded(code: str, folder: Path) -> bool:
    path = folder / "train.py"
    path.write_text(code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    [call] = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here"]
    return project.guard(call) is not None


@pytest.mark.parametrize("code", GUARDED)
def test_a_line_that_only_some_ranks_reach(code: str, tmp_path: Path) -> None:
    assert _guarded(code, tmp_path)


@pytest.mark.parametrize("code", FREE)
def test_a_line_that_every_rank_reaches(code: str, tmp_path: Path) -> None:
    assert not _guarded(code, tmp_path)
