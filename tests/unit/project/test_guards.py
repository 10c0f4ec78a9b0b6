"""Which ranks come to a line, by what decision, through calls and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.guards import RankSet
from ddplint.semantics import Name
from ddplint.semantics.shown import written

HEAD = "import os\nimport torch\nimport torch.distributed as dist\nimport tools\ndist.init_process_group('nccl')\n"
TOOLS = """import torch.distributed as dist

def get_rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()

def first():
    return get_rank() == 0

def only_first(function):
    def run(*given):
        if first():
            return function(*given)
    return run
"""
ONE, SOME, ALL, NONE, UNKNOWN = RankSet.ONE, RankSet.SOME, RankSet.ALL, RankSet.NONE, RankSet.UNKNOWN
CASES = [
    pytest.param("here()", ALL, "", id="after the start of the group"),
    pytest.param("if rank == 0:\n    here()", ONE, "rank == 0", id="one rank"),
    pytest.param("if rank != 0:\n    here()", SOME, "rank != 0", id="the others"),
    pytest.param(
        "class C:\n    sharded = False\nc = C()\ndef f(r):\n    if r == 0:\n        here()\n"
        "me = dist.get_rank()\nf(me if c.sharded else 0)",
        ONE,
        "r == 0",
        id="a rank that is handed on where a switch is on",
    ),
    pytest.param("if local_rank == -1:\n    here()", NONE, "local_rank == -1", id="a run without ranks"),
    pytest.param("if local_rank != -1:\n    here()", ALL, "", id="every run with ranks"),
    pytest.param("if rank in ranks:\n    here()", UNKNOWN, "rank in ranks", id="a test that can't be followed"),
    pytest.param("def f():\n    here()", UNKNOWN, "", id="a function that nobody is seen to call"),
    pytest.param("if tools.first():\n    here()", ONE, "tools.first()", id="a helper in another file"),
    pytest.param("@tools.only_first\ndef f():\n    here()", ONE, "tools.only_first", id="a decorator in another file"),
    pytest.param("def f():\n    here()\nif rank == 0:\n    f()", ONE, "rank == 0", id="a test around the only call"),
    pytest.param("def f():\n    here()\nif rank == 0:\n    f()\nf()", ALL, "", id="one call without a test"),
    pytest.param("def f(n):\n    here()\n    f(n)\nif rank == 0:\n    f(9)", ONE, "rank == 0", id="calls of itself"),
    pytest.param(
        "def g():\n    here()\ndef f():\n    g()\nif rank == 0:\n    f()", ONE, "rank == 0", id="calls of calls"
    ),
    pytest.param(
        "def f():\n    if rank != 0:\n        return\n    g()\ndef g():\n    here()\nf()",
        ONE,
        "rank != 0",
        id="an early return in the caller",
    ),
    pytest.param(
        "class T:\n    def save(self):\n        here()\n    def run(self):\n        if self.rank == 0:\n"
        "            self.save()\nT().run()",
        ONE,
        "self.rank == 0",
        id="a method",
    ),
    pytest.param(
        "def f(log=None):\n    if log is not None:\n        here()\nf(W() if rank == 0 else None)",
        ONE,
        "log is not None",
        id="an object that one rank is given",
    ),
]


@pytest.mark.parametrize(("code", "which", "decided_by"), CASES)
def test_the_ranks_of_a_line(code: str, which: RankSet, decided_by: str, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    here = next(call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here")
    ranks = project.ranks(here)
    assert (ranks.which, "" if ranks.decided_by is None else written(ranks.decided_by)) == (which, decided_by)
