"""On which ranks tests hold, and which ranks come to a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Name

HEAD = "import os\nimport torch\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
HELPER = "def main():\n    if not dist.is_initialized():\n        return True\n    return dist.get_rank() == 0\n"
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
    pytest.param("if 0 == rank:\n    here()", FIRST, id="the number first"),
    pytest.param("if rank is 0:\n    here()", FIRST, id="identity with a number"),
    pytest.param("if RANK in {-1, 0}:\n    here()", FIRST, id="membership in a set"),
    pytest.param("if rank == -1 or rank == 0:\n    here()", FIRST, id="membership written out"),
    pytest.param("if os.environ['RANK'] == '0':\n    here()", FIRST, id="the environment as text"),
    pytest.param("if os.getenv('RANK', '0') != '0':\n    here()", OTHERS, id="the environment as text, negated"),
    pytest.param("if os.environ.get('RANK') in ('0', None):\n    here()", FIRST, id="texts to choose from"),
    pytest.param("if 'RANK' in os.environ:\n    here()", ALL, id="whether there is a rank"),
    pytest.param("if cfg['rank'] == 0:\n    here()", FIRST, id="an item by its key"),
    pytest.param("if is_last_rank():\n    here()", {2}, id="the last rank by name"),
    pytest.param("if accelerator.is_last_process:\n    here()", {2}, id="the last process of an accelerator"),
    pytest.param("if accelerator.is_local_main_process:\n    here()", FIRST, id="an accelerator's attribute"),
    pytest.param("if fabric.is_global_zero:\n    here()", FIRST, id="a fabric's attribute"),
    pytest.param("if trainer.is_world_process_zero():\n    here()", FIRST, id="a trainer's method"),
    pytest.param("import horovod.torch as hvd\nif hvd.rank() == 0:\n    here()", FIRST, id="horovod"),
    pytest.param("import torch_xla.core.xla_model as x\nif x.get_ordinal() == 0:\n    here()", FIRST, id="xla"),
    pytest.param("if torch.cuda.current_device() == 0:\n    here()", FIRST, id="the current device"),
    pytest.param("if rank == main_rank:\n    here()", FIRST, id="the number of some rank"),
    pytest.param("if rank != args.src:\n    here()", OTHERS, id="any number that all ranks share"),
    pytest.param("for r in range(n):\n    if rank == r:\n        here()", ALL, id="each rank in its turn"),
    pytest.param("rank = len(x.shape)\nif rank == 2:\n    here()", ALL, id="the rank of a tensor"),
    pytest.param("rank = torch.linalg.matrix_rank(x)\nif rank == 0:\n    here()", ALL, id="a rank that is computed"),
    pytest.param("if is_main_branch:\n    here()", ALL, id="a word that goes on after main"),
    pytest.param("if primary_key == 0:\n    here()", ALL, id="something else that is primary"),
    pytest.param("def f(show=rank == 0):\n    if show:\n        here()\nf()", FIRST, id="a default"),
    pytest.param("def f(show):\n    if show:\n        here()\nf(rank == 0)", FIRST, id="a test handed to a function"),
    pytest.param(
        "def f(log=None):\n    if log is not None:\n        here()\nf(log=W() if rank == 0 else None)",
        FIRST,
        id="an object or None handed to a function",
    ),
    pytest.param(
        "def make():\n    if rank != 0:\n        return None\n    return W()\nlog = make()\nif log:\n    here()",
        FIRST,
        id="a helper that returns an object on one rank",
    ),
    pytest.param(
        "def make():\n    if rank == 0:\n        return W()\nlog = make()\nif log is not None:\n    here()",
        FIRST,
        id="a helper that returns nothing on the others",
    ),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.log = None\n        if rank == 0:\n"
        "            self.log = W()\n    def f(self):\n        if self.log is not None:\n            here()",
        FIRST,
        id="an attribute set on one rank",
    ),
    pytest.param(
        "def work(me):\n    if me == 0:\n        here()\nfor i in range(4):\n    mp.Process(target=work, args=(i,))",
        FIRST,
        id="the number that a process is started with",
    ),
    pytest.param("def work(i):\n    if i == 0:\n        here()\nmp.spawn(work)", FIRST, id="the index of spawn"),
    pytest.param(
        "d = int(os.environ.get('RANK', -1)) != -1\nif d:\n    main = int(os.environ['RANK']) == 0\nelse:\n"
        "    main = True\nif main:\n    here()",
        FIRST,
        id="a flag that a run without ranks sets, too",
    ),
    pytest.param(
        "def work(i):\n    if i == 0:\n        here()\nwork(0)\nmp.spawn(work)", FIRST, id="or called with a constant"
    ),
    pytest.param("if cfg['negative_all_rank']:\n    here()", ALL, id="ranks at large"),
    pytest.param("@master_only\ndef f():\n    here()", FIRST, id="under another decorator"),
    pytest.param("@accelerator.on_last_process\ndef f():\n    here()", {2}, id="under a decorator for the last one"),
    pytest.param("@a.on_process(process_index=1)\ndef f():\n    here()", {1}, id="under a decorator for any one"),
    pytest.param(
        "def once(fn):\n    def run(*a):\n        if dist.get_rank() == 0:\n            return fn(*a)\n    return run\n"
        "@once\ndef f():\n    here()",
        FIRST,
        id="under a decorator of the script",
    ),
    pytest.param(
        "def once(fn):\n    def run(*a):\n        if dist.get_rank() != 0:\n            return None\n"
        "        return fn(*a)\n    return run\n@once\ndef f():\n    here()",
        FIRST,
        id="under a decorator that leaves early",
    ),
    pytest.param(
        "def on(number):\n    def wrap(fn):\n        def run(*a):\n            if dist.get_rank() == number:\n"
        "                fn(*a)\n        return run\n    return wrap\n@on(0)\ndef f():\n    here()",
        FIRST,
        id="under what a call of a decorator returns",
    ),
    pytest.param(
        "def rank_logged(fn):\n    def run(*a):\n        print(dist.get_rank())\n        return fn(*a)\n"
        "    return run\n@rank_logged\ndef f():\n    here()",
        ALL,
        id="under a decorator that only sounds like one",
    ),
    pytest.param(HELPER + "dist.init_process_group()\nm = main()\nif m:\n    here()", FIRST, id="asked in time"),
    pytest.param(HELPER + "m = main()\ndist.init_process_group()\nif m:\n    here()", ALL, id="asked too early"),
    pytest.param(
        HELPER + "m = main()\ndef train():\n    dist.init_process_group()\n    if m:\n        here()\ntrain()",
        ALL,
        id="asked while the file is imported, before the group is started",
    ),
    pytest.param(
        HELPER + "class T:\n    def __init__(self):\n        self.m = main()\n        dist.init_process_group()\n"
        "    def f(self):\n        if self.m:\n            here()",
        ALL,
        id="asked too early and kept in an attribute",
    ),
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
