"""Which wrapped models run forward twice before one backward pass, and the pairs that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))
    def forward(self, x):
        return self.layers(x)

net = DDP(Net())
other = DDP(Net())
"""
TWICE = [
    pytest.param("(net(x) + net(y)).sum().backward()", 1, id="in one expression"),
    pytest.param("a = net(x)\nb = net(y)\nloss = crit(a, b)\nloss.backward()", 1, id="step by step"),
    pytest.param("(net(x) + net(y) + other(x) + other(y)).sum().backward()", 2, id="two models"),
    pytest.param("outs = []\nfor x in xs:\n    outs.append(net(x))\nsum(outs).backward()", 1, id="in a loop before it"),
    pytest.param("sum([net(x) for x in xs]).backward()", 1, id="in a comprehension"),
    pytest.param("def run(m):\n    return m(x) + m(y)\nrun(net).sum().backward()", 1, id="in a helper"),
    pytest.param(
        "def fit(m):\n    a = m(x)\n    b = m(y)\n    crit(a, b).backward()\nfit(net)",
        1,
        id="in one that is given it",
    ),
    pytest.param("net.eval()\n(net(x) + net(y)).sum().backward()", 1, id="in evaluation mode"),
]
ONCE = [
    pytest.param("net(x).sum().backward()\nnet(y).sum().backward()", id="each has its own backward pass"),
    pytest.param("for x in xs:\n    net(x).sum().backward()", id="both in a loop"),
    pytest.param("(net(x) + other(x)).sum().backward()", id="two models once each"),
    pytest.param("a = net(x).detach()\n(a + net(y)).sum().backward()", id="one is cut off"),
    pytest.param("with torch.no_grad():\n    a = net(x)\n(a + net(y)).sum().backward()", id="one without gradient"),
    pytest.param("a = net(x) if c else net(y)\na.sum().backward()", id="either of two"),
    pytest.param("with net.no_sync():\n    (net(x) + net(y)).sum().backward()", id="where nothing is exchanged"),
    pytest.param("m = DDP(Net(), broadcast_buffers=False)\n(m(x) + m(y)).sum().backward()", id="buffers left alone"),
    pytest.param("m = DDP(nn.Linear(1, 1))\n(m(x) + m(y)).sum().backward()", id="a model without BatchNorm"),
    pytest.param("m = DDP(load())\n(m(x) + m(y)).sum().backward()", id="a model that nobody knows"),
    pytest.param("nn.SyncBatchNorm.convert_sync_batchnorm(m)\n(net(x) + net(y)).sum().backward()", id="synchronised"),
    pytest.param("m = Net()\n(m(x) + m(y)).sum().backward()", id="no wrapper"),
]


def pairs(folder: Path, code: str) -> int:
    path = folder / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    return sum(len(list(project.repeated_forwards.of(function, script))) for function in (None, *script.functions))


@pytest.mark.parametrize(("code", "count"), TWICE)
def test_models_that_are_called_again(tmp_path: Path, code: str, count: int) -> None:
    assert pairs(tmp_path, code) == count


@pytest.mark.parametrize("code", ONCE)
def test_models_that_are_called_once(tmp_path: Path, code: str) -> None:
    assert pairs(tmp_path, code) == 0
