"""What is done to the parts of a model once it is wrapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(1, 1)

net = Net()
"""
CASES = [
    pytest.param("ddp = DDP(net)\nnet.body.requires_grad_(False)", ["FROZEN"], id="a part, by its old name"),
    pytest.param("ddp = DDP(net)\nddp.module.body.weight.requires_grad = False", ["FROZEN"], id="one parameter"),
    pytest.param("for p in net.body.parameters():\n    p.requires_grad = False\nddp = DDP(net)", [], id="before it"),
    pytest.param("ddp = DDP(net)\nddp.requires_grad_(False)\nnet.requires_grad_(False)", [], id="the whole model"),
    pytest.param(
        "ddp = DDP(net)\nfor n, p in ddp.named_parameters():\n    if n in x:\n        p.requires_grad = False",
        ["FROZEN"],
        id="some of all parameters",
    ),
    pytest.param(
        "ddp = DDP(net, find_unused_parameters=True)\nnet.body.requires_grad_(False)",
        [],
        id="unused ones are looked for",
    ),
    pytest.param("ddp = DDP(net)\nddp._set_static_graph()\nnet.body.requires_grad_(False)", [], id="a static graph"),
    pytest.param(
        "net.body.requires_grad_(False)\nddp = DDP(net)\nnet.body.requires_grad_(True)",
        ["WOKEN"],
        id="a part that slept",
    ),
    pytest.param("ddp = DDP(net)\nnet.body.requires_grad_(True)", [], id="a part that was awake"),
    pytest.param("ddp = DDP(net)\nddp.module.body = nn.Linear(1, 2)", ["REPLACED"], id="another layer"),
    pytest.param("ddp = DDP(net)\nddp.module.body = nn.init.ones_(x)", [], id="something that is no module"),
    pytest.param("ddp = DDP(net)\nnet.body = nn.Linear(1, 2)\nddp = DDP(net)", [], id="wrapped anew"),
    pytest.param("if x:\n    net = DDP(net)\nelse:\n    net.body.requires_grad_(False)", [], id="another branch"),
]


@pytest.mark.parametrize(("code", "kinds"), CASES)
def test_late_changes(tmp_path: Path, code: str, kinds: list[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    assert [change.kind.name for change in project.late_changes.of(script)] == kinds
