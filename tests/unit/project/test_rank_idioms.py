"""The test of the first rank that a script offers at a place."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from ddplint.project import Workspace
from ddplint.semantics import Expression, Name

HEAD = """
import os
import torch.distributed as dist

def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0

"""
CASES = [
    pytest.param("def f(rank):\n    here()\n    if rank == 0:\n        save()\n", "rank == 0", id="its own test"),
    pytest.param(
        "def f(rank):\n    here()\n    if not rank:\n        save()\n", "not rank", id="its own test by truth"
    ),
    pytest.param(
        "def f(args):\n    here()\n    if args.local_rank in [-1, 0]:\n        save()\n",
        "args.local_rank in [-1, 0]",
        id="its own test of two values",
    ),
    pytest.param(
        "def f(rank):\n    here()\n    if e % 5 == 0 and rank == 0:\n        save()\n",
        "rank == 0",
        id="a part of a test",
    ),
    pytest.param(
        "def f():\n    if is_main_process():\n        save()\ndef g():\n    here()\n",
        "is_main_process()",
        id="a helper used elsewhere",
    ),
    pytest.param(
        "def f(local_rank, rank):\n    here()\n    if local_rank == 0:\n        a()\n    if rank == 0:\n        b()\n",
        "rank == 0",
        id="the global rank before the local one",
    ),
    pytest.param(
        "class T:\n    def f(self):\n        if self.rank == 0:\n            a()\n    def g(self):\n        here()\n",
        "self.rank == 0",
        id="an attribute of the same object",
    ),
    pytest.param(
        "def f():\n    rank = int(os.environ['RANK'])\n    here()\n", "rank == 0", id="the rank, known by name"
    ),
    pytest.param(
        "def f():\n    dist.init_process_group('nccl')\n    here()\n",
        "dist.get_rank() == 0",
        id="torch, asked directly",
    ),
    pytest.param(
        "def f(rank):\n    if rank == 0:\n        save()\ndef g():\n    here()\n", None, id="a name of another function"
    ),
    pytest.param("def f(rank):\n    here()\n    if rank != 0:\n        wait()\n", None, id="a test of the other ranks"),
    pytest.param("def f(gpu):\n    here()\n    if gpu == 0:\n        save()\n", None, id="a device that may be None"),
    pytest.param(
        "def f(d):\n    if d:\n        rank = dist.get_rank()\n    here()\n    if d and rank == 0:\n        save()\n",
        None,
        id="a name that may not be bound",
    ),
    pytest.param(
        "def f(args):\n    here()\n    if args.distributed:\n        if dist.get_rank() == 0:\n            save()\n",
        None,
        id="a question that fails without a group",
    ),
    pytest.param(
        "def f(args):\n    here()\n    args.rank = int(os.environ['RANK'])\n    if args.rank == 0:\n        save()\n",
        None,
        id="an attribute that is set only later",
    ),
    pytest.param(
        "def f():\n    rank = int(os.environ.get('RANK', -1))\n    here()\n",
        None,
        id="a rank that is -1 in a single run",
    ),
    pytest.param("def f():\n    here()\n", None, id="nothing at all"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_a_script_offers_a_test_of_the_first_rank(code: str, expected: str | None, tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    here = next(call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here")
    test = project.rank_idioms.test_of_first_rank(here)
    assert (cst.Module([]).code_for_node(test.node) if isinstance(test, Expression) else test) == expected
