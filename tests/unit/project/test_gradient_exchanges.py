"""Gradients that a script sums over the ranks by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

wrapped = DistributedDataParallel(model)


def exchange():
"""
LOOP = "    for p in model.parameters():\n        "

CASES = [
    pytest.param(LOOP + "dist.all_reduce(p.grad)", [(False, False)], id="a sum"),
    pytest.param(LOOP + "dist.all_reduce(p.grad.data, dist.ReduceOp.SUM)", [(False, False)], id="a sum, as it says"),
    pytest.param(LOOP + "dist.all_reduce(p.grad, dist.ReduceOp.AVG)", [], id="a mean"),
    pytest.param(LOOP + "dist.all_reduce(p.grad, op=op)", [], id="who knows"),
    pytest.param(LOOP + "dist.all_reduce(p.grad, group=some)", [], id="over some ranks"),
    pytest.param(LOOP + "dist.all_reduce(p.data)", [], id="no gradient"),
    pytest.param(LOOP + "dist.all_reduce(p.grad)\n        p.grad /= 8", [(True, False)], id="divided"),
    pytest.param(LOOP + "dist.all_reduce(p.grad)\n        p.grad.div_(n)", [(True, False)], id="divided in place"),
    pytest.param(LOOP + "dist.all_reduce(p.grad)\n\nx = y / dist.get_world_size()", [(True, False)], id="elsewhere"),
    pytest.param(
        "    for p in wrapped.parameters():\n        dist.all_reduce(p.grad)", [(False, True)], id="DDP has done it"
    ),
    pytest.param(
        "    for p in wrapped.parameters():\n        dist.all_reduce(p.grad)\nwrapped.no_sync()",
        [(False, False)],
        id="DDP was kept from it",
    ),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_exchanges(code: str, expected: list[tuple[bool, bool]], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    found = [(exchange.divided, exchange.by_ddp) for exchange in project.gradient_exchanges.of(script)]
    assert found == expected
