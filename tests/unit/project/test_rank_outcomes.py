"""On which ranks tests hold, and which ranks come to a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Name

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n"
FIRST, OTHERS, ALL = {0}, {1, 2}, {0, 1, 2}
NOBODY: set[int] = set()
CASES = [
    pytest.param("here()", ALL, id="nothing around it"),
    pytest.param("if rank == 0:\n    here()", FIRST, id="the first rank"),
    pytest.param("if rank != 0:\n    here()", OTHERS, id="the others"),
    pytest.param("if not rank:\n    here()", FIRST, id="a negated number"),
    pytest.param("if rank > 0:\n    here()", OTHERS, id="a number above 0"),
    pytest.param("if rank:\n    pass\nelse:\n    here()", FIRST, id="the other arm"),
    pytest.param("if local_rank in [-1, 0]:\n    here()", FIRST, id="membership"),
    pytest.param("if local_rank not in (-1, 0):\n    here()", OTHERS, id="no member"),
    pytest.param("if local_rank != -1:\n    here()", ALL, id="-1 stands for a run without ranks, so no test of ranks"),
    pytest.param("if local_rank == -1:\n    here()", NOBODY, id="-1 on no rank"),
    pytest.param("if rank >= 0:\n    here()", ALL, id="a bound that every rank keeps"),
    pytest.param("if args.gpu is not None:\n    here()", ALL, id="whether a GPU was named"),
    pytest.param("if args.gpu == 0:\n    here()", FIRST, id="the GPU stands for the local rank"),
    pytest.param("if args.gpu:\n    here()", ALL, id="the GPU as a switch"),
    pytest.param("if has_gpu and n >= 2:\n    here()", ALL, id="whether there is a GPU"),
    pytest.param("if world_size > 1:\n    here()", ALL, id="the size of the world"),
    pytest.param("if world_size < 2:\n    here()", NOBODY, id="a world of one"),
    pytest.param("if rank == world_size - 1:\n    here()", {2}, id="the last rank"),
    pytest.param("if rank % ngpus_per_node == 0:\n    here()", FIRST, id="the first rank of a node"),
    pytest.param("if rank % 2 == 0:\n    here()", FIRST, id="every other rank"),
    pytest.param("if is_main_process():\n    here()", FIRST, id="a helper by its name"),
    pytest.param("if not utils.is_primary(args):\n    here()", OTHERS, id="a helper by its name, negated"),
    pytest.param("if not a.d or (a.d and a.rank % n_gpus == 0):\n    here()", FIRST, id="the composite of imagenet"),
    pytest.param("if args.verbose and rank == 0:\n    here()", FIRST, id="a switch and the rank"),
    pytest.param("if args.verbose:\n    here()", ALL, id="a switch that all ranks have"),
    pytest.param("rank == 0 and here()", FIRST, id="a short circuit"),
    pytest.param("here() if rank == 0 else None", FIRST, id="a conditional expression"),
    pytest.param("flag = rank == 0\nif flag:\n    here()", FIRST, id="a flag"),
    pytest.param("log = W() if rank == 0 else None\nif log is None:\n    here()", OTHERS, id="None on the others"),
    pytest.param(
        "log = None\nif rank == 0:\n    log = W()\nif log is not None:\n    here()", FIRST, id="set on one rank"
    ),
    pytest.param(
        "stop = False\nif rank == 0:\n    stop = True\nif stop:\n    here()", FIRST, id="a flag set on one rank"
    ),
    pytest.param(
        "stop = x\nif rank == 0:\n    stop = y\ndist.broadcast(stop, 0)\nif stop:\n    here()",
        ALL,
        id="a flag set on one rank and handed to all",
    ),
    pytest.param(
        "stop = False\nif rank == 0:\n    stop = x\nif rank != -1:\n    stop = agreed()\nif stop:\n    here()",
        ALL,
        id="a flag that every run with ranks sets anew",
    ),
    pytest.param("rank = dist.get_rank()\nif rank == 0:\n    here()", FIRST, id="get_rank"),
    pytest.param("me = int(os.environ['RANK'])\nif me == 0:\n    here()", FIRST, id="the environment under any name"),
    pytest.param("me = int(os.environ.get('RANK', -1))\nif me < 1:\n    here()", FIRST, id="with a default"),
    pytest.param("rank, world = get_dist_info()\nif rank == 0:\n    here()", FIRST, id="unpacked"),
    pytest.param("def f(num_gpu):\n    if num_gpu > 1:\n        here()", ALL, id="the number of GPUs"),
    pytest.param("args.rank = 0\nargs.rank += gpu\nif args.rank == 0:\n    here()", FIRST, id="counted up"),
    pytest.param("for rank in range(world_size):\n    if rank == 0:\n        here()", ALL, id="a loop over all ranks"),
    pytest.param("if team_rank == 0:\n    here()", FIRST, id="any other rank, by its name"),
    pytest.param("if lora_rank == 0:\n    here()", ALL, id="the rank of a matrix"),
    pytest.param("if tp_rank == 0:\n    here()", ALL, id="the place in a grid of ranks"),
    pytest.param("def f():\n    if rank != 0:\n        return\n    here()", FIRST, id="after an early return"),
    pytest.param("@rank_zero_only\ndef f():\n    here()", FIRST, id="under a decorator"),
    pytest.param(
        "def main():\n    if not dist.is_initialized():\n        return True\n    return dist.get_rank() == 0\n"
        "if main():\n    here()",
        FIRST,
        id="a helper with two answers",
    ),
    pytest.param(
        "class T:\n    @property\n    def first(self):\n        return dist.get_rank() == 0\n"
        "    def f(self):\n        if self.first:\n            here()",
        FIRST,
        id="a property",
    ),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.me = dist.get_rank()\n"
        "    def f(self):\n        if self.me == 0:\n            here()",
        FIRST,
        id="an attribute under any name",
    ),
    pytest.param("def f(me):\n    if me == 0:\n        here()\nf(dist.get_rank())", FIRST, id="handed to a function"),
    pytest.param("def f(local_rank):\n    if local_rank == 0:\n        here()\nf(-1)", NOBODY, id="-1 handed to it"),
    pytest.param("if rank == 0:\n    if rank != 0:\n        here()", NOBODY, id="tests that exclude each other"),
]


@pytest.mark.parametrize(("code", "processes"), CASES)
def test_the_ranks_that_come_to_a_call(code: str, processes: set[int], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    here = next(call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here")
    assert project.rank_outcomes.processes(here.region) == processes
