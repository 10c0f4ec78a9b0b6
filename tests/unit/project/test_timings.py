"""Which times are taken before the GPU has done its work."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import time
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(nn.Linear(1, 1))
"""
CASES = [
    pytest.param("t = time.time()\nnet(x)\nd = time.time() - t", 1, id="a forward pass"),
    pytest.param("t = time.time()\ny = net(x)\nu = time.time()\nd = u - t", 1, id="both looks have names"),
    pytest.param("t = time.time()\nloss.backward()\nd = time.time() - t", 1, id="a backward pass"),
    pytest.param("t = time.time()\nnet(x).sum().item()\nd = time.time() - t", 0, id="a number is read"),
    pytest.param("t = time.time()\nnet(x)\ntorch.cuda.synchronize()\nd = time.time() - t", 0, id="it is waited for"),
    pytest.param("t = time.time()\nuse(net(x))\nd = time.time() - t", 0, id="somebody may wait"),
    pytest.param("t = time.time()\nfor x in xs:\n    net(x)\nd = time.time() - t", 0, id="around a loop"),
    pytest.param("t = time.time()\ny = torch.ones(1)\nd = time.time() - t", 0, id="no model runs"),
    pytest.param("t = start()\nnet(x)\nd = time.time() - t", 0, id="a time from elsewhere"),
]


@pytest.mark.parametrize(("code", "count"), CASES)
def test_early_times(tmp_path: Path, code: str, count: int) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    assert len(list(project.timings.early(script))) == count
