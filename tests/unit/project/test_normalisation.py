"""Whether a model holds BatchNorm, and whether a program counts it over all processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Call, Name, Script

HEAD = """
import torchvision
from torch import nn

def block():
    return nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([block() for _ in range(3)])

class Chosen(nn.Module):
    def __init__(self, plain):
        super().__init__()
        if plain:
            self.part = nn.Linear(1, 1)
        else:
            self.part = block()

class Heir(Net):
    pass

"""
WITH = [
    pytest.param("here(nn.BatchNorm2d(1))\n", id="a layer"),
    pytest.param("m = block().cuda()\nhere(m)\n", id="what a helper makes, moved"),
    pytest.param("here(Net())\n", id="a list in a class"),
    pytest.param("here(Heir())\n", id="a class that derives from it"),
    pytest.param("here(nn.Sequential(*[block()]))\n", id="a list that is unpacked"),
    pytest.param("here(torchvision.models.resnet18() if x else Net())\n", id="either of two models"),
]
WITHOUT = [
    pytest.param("here(nn.Linear(1, 1))\n", id="another layer"),
    pytest.param("here(Chosen(x))\n", id="a class that chooses"),
    pytest.param("here(Net() if x else nn.Linear(1, 1))\n", id="one model of two"),
    pytest.param("here(torchvision.models.resnet18(norm_layer=f))\n", id="another layer asked for"),
    pytest.param("here(torchvision.models.vgg16())\n", id="a model without"),
    pytest.param("here(load())\n", id="a model from elsewhere"),
]
TOGETHER = [
    pytest.param("m = nn.SyncBatchNorm.convert_sync_batchnorm(m)\n", id="torch's conversion"),
    pytest.param("from apex.parallel import convert_syncbn_model\nm = convert_syncbn_model(m)\n", id="that of apex"),
    pytest.param("class SynchronizedBatchNorm2d(nn.Module):\n    pass\n", id="a layer of the project"),
]
ALONE = [
    pytest.param("m = Net()\n", id="nothing of the kind"),
    pytest.param("# no SyncBatchNorm here\nsync_batches = 1\n", id="a comment, and another word"),
]


def _project(text: str, folder: Path) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


def _layer(text: str, folder: Path) -> Call | None:
    project, script = _project(text, folder)
    [here] = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here"]
    return project.normalisation.batch_norm_of(here.arguments[0].value)


@pytest.mark.parametrize("text", WITH)
def test_a_model_holds_batch_norm(text: str, tmp_path: Path) -> None:
    assert _layer(text, tmp_path) is not None


@pytest.mark.parametrize("text", WITHOUT)
def test_a_model_may_hold_none(text: str, tmp_path: Path) -> None:
    assert _layer(text, tmp_path) is None


@pytest.mark.parametrize("text", TOGETHER)
def test_a_program_counts_over_all_processes(text: str, tmp_path: Path) -> None:
    project, script = _project(text, tmp_path)
    assert project.normalisation.is_synchronised(script)


@pytest.mark.parametrize("text", ALONE)
def test_a_program_counts_in_each_process(text: str, tmp_path: Path) -> None:
    project, script = _project(text, tmp_path)
    assert not project.normalisation.is_synchronised(script)
