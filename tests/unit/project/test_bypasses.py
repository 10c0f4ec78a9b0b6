"""Which forward passes past a wrapper lead to a backward pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.scale = 2
    def forward(self, x):
        return self.layer(x)
    def loss(self, x):
        return self(x).sum()
    def part(self, x):
        return self.loss(x) * 2
    def penalty(self, x):
        return x * self.scale
    @torch.no_grad()
    def sample(self, x):
        return self.layer(x)

net = DDP(Net())
"""
PAST = [
    pytest.param("net.module(x).sum().backward()", 1, id="the inside called in place"),
    pytest.param("out = net.module(x)\nloss = crit(out, y)\nloss.backward()", 1, id="step by step"),
    pytest.param("net.module.forward(x).sum().backward()", 1, id="its forward"),
    pytest.param("net.module.loss(x).backward()", 1, id="a method that calls the model"),
    pytest.param("net.module.part(x).backward()", 1, id="a method that calls such a method"),
    pytest.param("raw = net.module\nraw(x).sum().backward()", 1, id="the inside under a name"),
    pytest.param(
        "raw = net.module if hasattr(net, 'module') else net\nraw(x).sum().backward()", 1, id="taken out if wrapped"
    ),
    pytest.param("a = net.module(x)\nb = net.module(y)\n(a - b).sum().backward()", 2, id="twice"),
    pytest.param("scaler.scale(crit(net.module(x), y)).backward()", 1, id="scaled"),
    pytest.param("losses = []\nlosses.append(net.module(x).sum())\nsum(losses).backward()", 1, id="kept in a list"),
    pytest.param(
        "def fit(model):\n    crit(model.module(x)).backward()\nfit(net)", 1, id="in a function that gets the wrapper"
    ),
    pytest.param(
        "def fit(model):\n    crit(model(x)).backward()\nfit(net.module)", 1, id="in one that gets the inside"
    ),
    pytest.param("def run(m):\n    return m(x).sum()\nrun(net.module).backward()", 1, id="behind a function"),
    pytest.param("loss = net.module(x).sum()\nloss.backward()\ndist.all_reduce(loss)", 1, id="the loss is reduced"),
]
NOT_PAST = [
    pytest.param("net(x).sum().backward()", id="the wrapper called"),
    pytest.param("with torch.no_grad():\n    y = net.module(x)\nnet(y).sum().backward()", id="without gradient"),
    pytest.param("y = net.module(x).detach()\ncrit(other(y)).backward()", id="cut off"),
    pytest.param("y = net.module.sample(x)\ncrit(other(y)).backward()", id="a method without gradient"),
    pytest.param("net.module.penalty(x).backward()", id="a method that runs no parameter"),
    pytest.param("x = net.module.scale * x\nx.backward()", id="an attribute"),
    pytest.param("net(x).sum().backward()\nnet.module(x)", id="not part of the loss"),
    pytest.param("(net(x) + net.module(x)).sum().backward()", id="beside a forward that arms the exchange"),
    pytest.param(
        "net.module(x).sum().backward()\nfor p in net.parameters():\n    dist.all_reduce(p.grad)", id="by hand"
    ),
    pytest.param(
        "def average_gradients(m):\n    dist.all_reduce(m)\nnet.module(x).sum().backward()\naverage_gradients(net)",
        id="by hand, in a function",
    ),
    pytest.param("bare = Net()\nbare(x).sum().backward()", id="a model without a wrapper"),
    pytest.param("dp = nn.DataParallel(Net())\ndp.module(x).sum().backward()", id="DataParallel exchanges nothing"),
    pytest.param("torch.save(net.module.state_dict(), p)\nloss.backward()", id="the weights"),
]


def bypasses(tmp_path: Path, code: str) -> int:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return sum(1 for function in (None, *script.functions) for _ in project.bypasses.of(function, script))


@pytest.mark.parametrize(("code", "number"), PAST)
def test_forward_passes_past_the_wrapper(code: str, number: int, tmp_path: Path) -> None:
    assert bypasses(tmp_path, code) == number


@pytest.mark.parametrize("code", NOT_PAST)
def test_forward_passes_that_ddp_knows_of_or_that_train_nothing(code: str, tmp_path: Path) -> None:
    assert bypasses(tmp_path, code) == 0
