"""What stands around a model, followed through the ways in which scripts hand models on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.models import Wrapper
from ddplint.semantics import Name

HEAD = """
import copy
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def forward(self, x):
        return x

"""
CASES = [
    pytest.param("m = Net()\nuse(m)", {Wrapper.BARE}, id="a bare model"),
    pytest.param("m = nn.Linear(1, 1)\nuse(m)", {Wrapper.BARE}, id="a layer of torch"),
    pytest.param("m = DDP(Net())\nuse(m)", {Wrapper.DDP}, id="wrapped in one go"),
    pytest.param(
        "m = Net().cuda()\nm = DDP(m, device_ids=[0])\nuse(m)", {Wrapper.DDP}, id="wrapped under its own name"
    ),
    pytest.param("m = nn.DataParallel(Net()).cuda()\nuse(m)", {Wrapper.DATA_PARALLEL}, id="moved after the wrap"),
    pytest.param("m = Net()\nif d:\n    m = DDP(m)\nuse(m)", {Wrapper.BARE, Wrapper.DDP}, id="wrapped under a flag"),
    pytest.param("m = DDP(Net())\nuse(m.module)", {Wrapper.BARE}, id="the model inside the wrapper"),
    pytest.param("m = torch.compile(DDP(Net()))\nuse(m)", {Wrapper.DDP}, id="compiled around the wrapper"),
    pytest.param("m = nn.SyncBatchNorm.convert_sync_batchnorm(Net())\nuse(m)", {Wrapper.BARE}, id="converted layers"),
    pytest.param("m = DDP(Net())\ne = copy.deepcopy(m)\nuse(e)", {Wrapper.DDP}, id="a copy of the wrapper"),
    pytest.param("def build():\n    return DDP(Net())\nm = build()\nuse(m)", {Wrapper.DDP}, id="built by a helper"),
    pytest.param("def fit(m):\n    use(m)\nfit(DDP(Net()))", {Wrapper.DDP}, id="handed to a function"),
    pytest.param(
        "class T:\n    def __init__(self, m):\n        self.m = DDP(m)\n    def run(self):\n        use(self.m)",
        {Wrapper.DDP},
        id="kept in an attribute",
    ),
    pytest.param("m = {'net': DDP(Net())}\nuse(m['net'])", {Wrapper.DDP}, id="kept in a dict"),
    pytest.param(
        "m = load()\nif d:\n    m = DDP(m.cuda())\nuse(m)",
        {Wrapper.BARE, Wrapper.DDP},
        id="whatever it is, bare until wrapped",
    ),
    pytest.param(
        "m = DDP(load())\nif d:\n    m = load()\nuse(m)",
        {Wrapper.UNKNOWN, Wrapper.DDP},
        id="another one from elsewhere",
    ),
    pytest.param(
        "m = DDP(Net())\nm = m.module if hasattr(m, 'module') else m\nuse(m)", {Wrapper.BARE}, id="taken out if wrapped"
    ),
    pytest.param(
        "def bare(m):\n    if isinstance(m, DDP):\n        return m.module\n    return m\nuse(bare(DDP(Net())))",
        {Wrapper.BARE},
        id="taken out by a helper",
    ),
    pytest.param(
        "def fit(m):\n    use(m)\nfit(Net())\nfit(DDP(Net()))",
        {Wrapper.BARE, Wrapper.DDP},
        id="handed in by two callers",
    ),
    pytest.param("class D(DDP):\n    pass\nm = D(Net())\nuse(m)", {Wrapper.DDP}, id="a class that derives from DDP"),
    pytest.param("m = load()\nuse(m)", {Wrapper.UNKNOWN}, id="from somewhere unknown"),
    pytest.param("def fit(m):\n    use(m)", {Wrapper.UNKNOWN}, id="handed in by nobody in sight"),
    pytest.param("m = m\nuse(m)", {Wrapper.UNKNOWN}, id="nothing but itself"),
]


@pytest.mark.parametrize(("code", "wrappers"), CASES)
def test_a_model_is_known_by_its_wrapper(code: str, wrappers: set[Wrapper], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    uses = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "use"]
    assert project.models.wrappers(uses[-1].arguments[0].value) == wrappers
