"""Which parts of a model nothing in its program reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
from torch import nn

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)
    def forward(self, x):
        return self.layer(x)

"""
NET = """class Net(nn.Module):
    def __init__(self, deep=False):
        super().__init__()
        self.used = nn.Linear(1, 1)
        {made}
    def forward(self, x):
        return self.used(x)
{after}
"""
CASES = [
    pytest.param("self.part = nn.Linear(1, 1)", "", ["part"], id="a layer"),
    pytest.param("self.part = nn.Parameter(torch.ones(1))", "", ["part"], id="a parameter"),
    pytest.param("self.part = Inner()", "", ["part"], id="a module of the project"),
    pytest.param("self.part = nn.ModuleList([Inner() for _ in range(3)])", "", ["part"], id="a list of them"),
    pytest.param("self.part = nn.ReLU()", "", [], id="a layer without parameters"),
    pytest.param("self.part = nn.Parameter(torch.ones(1), requires_grad=False)", "", [], id="one without a gradient"),
    pytest.param("self.part = build()", "", [], id="what nobody knows"),
    pytest.param("if deep:\n            self.part = nn.Linear(1, 1)", "", [], id="made under a test"),
    pytest.param("self.part = nn.Linear(1, 1)", "print(Net().part)", [], id="read outside"),
    pytest.param("self.part = nn.Linear(1, 1)", "print(something.part)", [], id="perhaps read outside"),
    pytest.param("self.part = nn.Linear(1, 1)", "skip = ['part']", [], id="named in a text"),
    pytest.param("self.part = nn.Linear(1, 1)", "print(getattr(net, name))", [], id="names made at run time"),
    pytest.param("self.layer = nn.Linear(1, 1)", "", ["layer"], id="another class reads its own"),
]


@pytest.mark.parametrize(("made", "after", "expected"), CASES)
def test_unused_parts(tmp_path: Path, made: str, after: str, expected: list[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + NET.format(made=made, after=after))
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    [net] = [cls for cls in script.classes if cls.name == "Net"]
    assert [part.store.name for part in project.unused_parts.of(net)] == expected
