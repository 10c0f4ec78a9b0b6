"""Which collectives a call comes to, directly and through functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

CASES = [
    pytest.param("dist.barrier()", ("barrier",), id="a barrier"),
    pytest.param("torch.distributed.all_reduce(x)", ("all_reduce",), id="the full name"),
    pytest.param("dist.get_rank()", (), id="a question is no collective"),
    pytest.param("import ignite.distributed as idist\nidist.barrier()", ("barrier",), id="the same by ignite"),
    pytest.param("x.all_reduce()", (), id="somebody else's method"),
    pytest.param(
        "def f(x):\n    dist.all_reduce(x)\n    dist.barrier()\nf(1)", ("all_reduce", "barrier"), id="a helper"
    ),
    pytest.param("def g():\n    dist.barrier()\ndef f():\n    g()\nf()", ("barrier",), id="a helper's helper"),
    pytest.param("def f(n):\n    dist.barrier()\n    f(n)\nf(1)", ("barrier",), id="a function that calls itself"),
    pytest.param("def f():\n    def g():\n        dist.barrier()\nf()", (), id="an inner function that nobody calls"),
    pytest.param("m = DDP(nn.Linear(1, 1))\nm(x)", ("forward of DistributedDataParallel",), id="a forward of DDP"),
    pytest.param("m = DDP(nn.Linear(1, 1))\nm.module(x)", (), id="a forward past DDP"),
]
HEAD = "import torch\nimport torch.distributed as dist\nfrom torch import nn\n"
HEAD += "from torch.nn.parallel import DistributedDataParallel as DDP\n"


@pytest.mark.parametrize(("code", "kinds"), CASES)
def test_the_last_call_comes_to_its_collectives_in_order(code: str, kinds: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert project.collectives.of_call(script.calls[-1]) == kinds
