"""The models whose parameters an optimizer has, and what is done to them afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

HEAD = """import copy
import torch
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)

net = Net()
best = optim.Adam(net.parameters())
"""
LOST = [
    pytest.param("net = Net()", ["REBUILT"], id="made anew"),
    pytest.param("net = copy.deepcopy(net)", ["REBUILT"], id="a copy"),
    pytest.param("net.layer = nn.Linear(1, 2)", ["REPLACED"], id="a new part"),
    pytest.param("best.load_state_dict(s)\nnet.half()", ["CAST"], id="cast after the state was loaded"),
    pytest.param("net.half()\nbest.load_state_dict(s)", [], id="cast before"),
    pytest.param("net = net.cuda()", [], id="moved"),
    pytest.param("net = DDP(net)", [], id="wrapped"),
    pytest.param("net = nn.Sequential(net, nn.Linear(1, 1))", [], id="put into another"),
    pytest.param("net.layer = nn.ReLU()", [], id="a part without parameters"),
    pytest.param("net = Net()\nbest = optim.Adam(net.parameters())", [], id="and the optimizer, too"),
    pytest.param("for x in xs:\n    net = Net()\n    use(net)", [], id="in a loop behind it"),
]
LONE = [
    pytest.param("ddp = DDP(Net())", 1, id="beside a wrapped model"),
    pytest.param("ddp = DDP(net)", 0, id="wrapped later"),
    pytest.param("ddp = DDP(nn.ModuleList([net, Net()]))", 0, id="held by what is wrapped"),
    pytest.param("ddp = DDP(Net())\nhand_over(net)", 0, id="handed to somebody"),
    pytest.param("ddp = DDP(Net())\nnet = net.cuda()\nnet(ddp(x)).sum().backward()", 1, id="moved and called"),
    pytest.param("print(x)", 0, id="nothing is wrapped"),
    pytest.param("ddp = DDP(Net())\ntorch.distributed.all_reduce(p.grad)", 0, id="gradients are exchanged"),
]


def script_of(folder: Path, code: str) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    return project, script


@pytest.mark.parametrize(("code", "kinds"), LOST)
def test_changes_that_an_optimizer_does_not_learn_of(tmp_path: Path, code: str, kinds: list[str]) -> None:
    project, script = script_of(tmp_path, code)
    assert [lost.how.name for lost in project.optimized.lost(script)] == kinds


@pytest.mark.parametrize(("code", "count"), LONE)
def test_modules_that_train_alone(tmp_path: Path, code: str, count: int) -> None:
    project, script = script_of(tmp_path, code)
    assert len(list(project.optimized.lone(script))) == count
