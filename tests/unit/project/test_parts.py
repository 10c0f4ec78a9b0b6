"""Of which classes a model is made, and the wrappers around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

MODELS = """from torch import nn

class Leaf(nn.Module):
    def __init__(self):
        super().__init__()

class Spare(nn.Module):
    pass

class Net(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.leaves = nn.ModuleList([Leaf() for _ in range(3)])
        if deep:
            self.spare = Spare()
"""
TRAIN = """from torch.nn.parallel import DistributedDataParallel as DDP
from models import Leaf, Net, Spare

net = DDP(Net(True))
"""


@pytest.fixture
def models(tmp_path: Path) -> tuple[Project, Script]:
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(TRAIN)
    project = Workspace().project(tmp_path / "models.py")
    script = project.script((tmp_path / "models.py").resolve())
    assert script is not None
    return project, script


def test_the_classes_of_a_model_are_those_that_it_always_makes(models: tuple[Project, Script]) -> None:
    project, script = models
    net = next(cls for cls in script.classes if cls.name == "Net")
    assert [cls.name for cls in project.parts.classes(net)] == ["Net", "Leaf"]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param("Net", 1, id="the model itself"),
        pytest.param("Leaf", 1, id="a part of it"),
        pytest.param("Spare", 0, id="what only some of its objects have"),
    ],
)
def test_wrappers_of_other_files_are_found(models: tuple[Project, Script], name: str, count: int) -> None:
    project, script = models
    cls = next(cls for cls in script.classes if cls.name == name)
    assert len(list(project.parts.wraps_around(cls))) == count
