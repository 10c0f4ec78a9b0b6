"""Which attributes of a model are asked of its wrapper."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    width = 3
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.rate = 0.1
    def forward(self, x):
        return self.layer(x) * self.rate
    def groups(self):
        return []

"""
ASKED = [
    pytest.param("m = DDP(Net())\nm.groups()", ("groups", True), id="a method"),
    pytest.param("m = DDP(Net())\nshow(m.layer)", ("layer", True), id="a layer"),
    pytest.param("m = DDP(Net())\nshow(m.width)", ("width", True), id="an attribute of the class"),
    pytest.param("m = DDP(Net())\nm.rate = 0.2", ("rate", True), id="an assignment that the model would read"),
    pytest.param("m = nn.DataParallel(Net()).cuda()\nm.rate = 0.2", ("rate", True), id="in DataParallel"),
    pytest.param("m = Net()\nif d:\n    m = DDP(m)\nm.groups()", ("groups", False), id="wrapped on some runs"),
    pytest.param(
        "if d:\n    m = nn.DataParallel(Net())\nelse:\n    m = Net()\nfor e in r:\n    m.rate = e",
        ("rate", False),
        id="wrapped on some runs, written in a loop",
    ),
    pytest.param("def fit(m):\n    m.groups()\nfit(DDP(Net()))", ("groups", True), id="in a function"),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.m = DDP(Net())\n    def run(self):\n        self.m.groups()",
        ("groups", True),
        id="of a trainer's model",
    ),
]
NOT_ASKED = [
    pytest.param("m = DDP(Net())\nm.module.groups()", id="of the inside"),
    pytest.param("m = DDP(Net())\nm.parameters()", id="what every module has"),
    pytest.param("m = DDP(Net())\nm.no_sync()", id="what DDP has"),
    pytest.param("m = Net()\nm.groups()", id="of the model itself"),
    pytest.param("m = DDP(Net())\nm.note = 1", id="an assignment that the model does not know"),
    pytest.param("m = DDP(Net())\nm.groups = 1\nshow(m.groups)", id="what was put into the wrapper before"),
    pytest.param("m = DDP(Net())\nm.groups = m.module.groups", id="what is handed to those who ask the wrapper"),
    pytest.param("m = Net()\nif d:\n    m = DDP(m)\nif not d:\n    m.groups()", id="on the runs without a wrapper"),
    pytest.param("m = Net()\nif d:\n    m = DDP(m)\nelse:\n    m.groups()", id="in the arm without a wrapper"),
    pytest.param("m = DDP(Net())\nm = m.module\nm.groups()", id="unwrapped before"),
    pytest.param("m = DDP(load())\nm.groups()", id="a model of unknown class"),
    pytest.param("class D(DDP):\n    pass\nm = D(Net())\nm.groups()", id="a wrapper of the project's own"),
    pytest.param("def fit(m):\n    m.groups()", id="whatever is handed in"),
]


def accesses(tmp_path: Path, code: str) -> list[tuple[str, bool]]:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [(found.name, found.always) for found in project.wrapped_accesses.of(script)]


@pytest.mark.parametrize(("code", "access"), ASKED)
def test_what_the_wrapper_does_not_have(code: str, access: tuple[str, bool], tmp_path: Path) -> None:
    assert accesses(tmp_path, code) == [access]


@pytest.mark.parametrize("code", NOT_ASKED)
def test_what_is_asked_of_the_right_object(code: str, tmp_path: Path) -> None:
    assert accesses(tmp_path, code) == []
