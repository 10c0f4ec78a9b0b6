"""Where a model is, and what moves its wrapper."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.placement import Change
from ddplint.semantics import Call, Name, Script

HEAD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)

class OnGpu(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = make()

def make():
    return nn.Linear(1, 1).cuda()

"""
UNTOUCHED = [
    pytest.param("here(nn.Linear(1, 1))\n", id="a layer of torch"),
    pytest.param("m = Net()\nm.train()\nprint(m)\nhere(m)\n", id="a class of the project under a name"),
    pytest.param("here(nn.Sequential(nn.Linear(args.width, 2 * 4), Net()))\n", id="made of such"),
    pytest.param("def build():\n    return Net()\nhere(build())\n", id="made by a helper"),
    pytest.param("def wrap(m):\n    here(m)\nwrap(Net())\n", id="handed in by its only caller"),
    pytest.param("m = Net()\nhere(m)\nm.cuda()\n", id="moved only later"),
]
TOUCHED = [
    pytest.param("here(Net().cuda())\n", id="moved where it is made"),
    pytest.param("m = Net()\nm.to(0)\nhere(m)\n", id="moved under its name"),
    pytest.param("m = Net()\nplace(m)\nhere(m)\n", id="handed to a function"),
    pytest.param("m = Net()\nparts = [m]\nhere(m)\n", id="known under another name"),
    pytest.param("here(OnGpu())\n", id="a class that moves its parts"),
    pytest.param("here(nn.Linear(1, 1, device=0))\n", id="made on a device"),
    pytest.param("here(nn.SyncBatchNorm.convert_sync_batchnorm(load()))\n", id="converted, and from elsewhere"),
    pytest.param("b = Net()\nb.cuda()\nhere(nn.Sequential(b, nn.Linear(1, 1)))\n", id="around a part that was moved"),
    pytest.param("def f(b):\n    here(nn.Sequential(b))\n", id="around a part from elsewhere"),
    pytest.param("m = Net()\nif x:\n    m = load()\nhere(m)\n", id="one from elsewhere on some runs"),
    pytest.param("def f(m):\n    here(m)\nf(Net())\nf(load())\n", id="handed in from elsewhere"),
    pytest.param("torch.set_default_device('cuda')\nhere(Net())\n", id="made where the program says"),
]
MOVES = [
    pytest.param("w = here(m)\nw.cuda()\n", [Change.DEVICE], id="to a GPU"),
    pytest.param("w = here(m).to(device)\n", [Change.DEVICE], id="in its own line"),
    pytest.param("w = here(m)\nw = w.half()\n", [Change.TYPE], id="to a type"),
    pytest.param("w = here(m)\nw.to(dtype=torch.bfloat16)\n", [Change.TYPE], id="to a type by keyword"),
    pytest.param("w = here(m)\nw.module.half()\nw.train()\n", [], id="what is inside, or nothing"),
    pytest.param("w = here(m)\nif x:\n    w = m\nw.cuda()\n", [], id="another value under the same name"),
]


def _here(text: str, folder: Path) -> tuple[Call, Script, Project]:
    path = folder / "train.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    [here] = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here"]
    return here, script, project


@pytest.mark.parametrize("text", UNTOUCHED)
def test_a_model_is_where_it_was_made(text: str, tmp_path: Path) -> None:
    here, _, project = _here(text, tmp_path)
    assert project.placement.is_untouched(here.arguments[0].value)


@pytest.mark.parametrize("text", TOUCHED)
def test_a_model_may_have_been_moved(text: str, tmp_path: Path) -> None:
    here, _, project = _here(text, tmp_path)
    assert not project.placement.is_untouched(here.arguments[0].value)


@pytest.mark.parametrize(("text", "changes"), MOVES)
def test_moves_of_a_value_are_found(text: str, changes: list[Change], tmp_path: Path) -> None:
    here, _, project = _here(text, tmp_path)
    assert [move.change for move in project.placement.moves_of(here)] == changes


def test_a_move_to_the_cpu_reaches_no_gpu(tmp_path: Path) -> None:
    here, _, project = _here("w = here(m).to('cpu')\n", tmp_path)
    [move] = project.placement.moves_of(here)
    assert not project.placement.may_reach_gpu(move.call)
