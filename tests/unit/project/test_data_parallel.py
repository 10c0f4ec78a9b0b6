"""DataParallel in all its forms, and what stands in the way of leaving it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.data_parallel import Form
from ddplint.semantics import Script

HEAD = """
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import DataParallel as DP
from torch.nn.parallel import data_parallel

class Balanced(nn.DataParallel): ...
class MoreBalancedParallel(Balanced): ...
class BalancedDataParallel(Balanced): ...

"""
FORMS = [
    pytest.param("m = nn.DataParallel(m)", [(Form.CLASS, "DataParallel")], id="torch's class"),
    pytest.param("m = torch.nn.parallel.DataParallel(m)", [(Form.CLASS, "DataParallel")], id="under its longer name"),
    pytest.param("m = DP(m).cuda()", [(Form.CLASS, "DP")], id="under another name, chained"),
    pytest.param("W = nn.DataParallel if many else nn.Identity\nm = W(m)", [(Form.CLASS, "W")], id="chosen by a test"),
    pytest.param("y = data_parallel(m, x)", [(Form.FUNCTION, "data_parallel")], id="torch's function"),
    pytest.param(
        "m = BalancedDataParallel(m)", [(Form.OWN_CLASS, "BalancedDataParallel")], id="a class of the project"
    ),
    pytest.param("m = MoreBalancedParallel(m)", [(Form.OWN_CLASS, "MoreBalancedParallel")], id="derived twice"),
    pytest.param(
        "def DataParallel(m, chunks):\n    if chunks is None:\n        return nn.DataParallel(m)\n    return Own(m)\n"
        "m = DataParallel(m, None)",
        [(Form.OWN_CLASS, "DataParallel")],
        id="a function that stands in for the class, and not what it does",
    ),
    pytest.param(
        "from sync_batchnorm import DataParallelWithCallback as W\nm = W(m)",
        [(Form.OWN_CLASS, "W")],
        id="a class of a library, under another name",
    ),
    pytest.param("isinstance(m, nn.DataParallel)", [], id="only asked for"),
    pytest.param("m = nn.parallel.DistributedDataParallel(m)", [], id="the distributed class"),
]
OBSTACLES = [
    pytest.param("m = nn.DataParallel(m)", [], id="nothing"),
    pytest.param("m = nn.DataParallel(m, dim=0)", [], id="the first dimension, said aloud"),
    pytest.param("m = nn.DataParallel(m, None, None, 1)", ["no dim"], id="another dimension"),
    pytest.param("m = BalancedDataParallel(m)", ["not torch's class"], id="a class of the project"),
    pytest.param("m.encoder = nn.DataParallel(m.encoder)", ["only the part encoder"], id="a part of a model"),
    pytest.param(
        "class T:\n    def f(self):\n        self.m = nn.DataParallel(self.m)", [], id="what a trainer keeps is no part"
    ),
    pytest.param("criterion = nn.DataParallel(criterion)", ["a loss without"], id="a loss"),
    pytest.param("net_with_loss = nn.DataParallel(net_with_loss)", [], id="a model that holds its loss"),
    pytest.param("a = nn.DataParallel(a)\nb = nn.DataParallel(b)", ["several modules"], id="two models"),
    pytest.param(
        "if c:\n    a = nn.DataParallel(a)\nelse:\n    b = nn.DataParallel(b)", [], id="two models, one or the other"
    ),
    pytest.param("for m in ms:\n    m = nn.DataParallel(m)", ["anew in each pass"], id="in a loop"),
    pytest.param(
        "class M(nn.Module):\n    def __init__(self):\n        self.e = nn.DataParallel(nn.Linear(1, 1))",
        ["inside a model"],
        id="inside a model",
    ),
    pytest.param("m = nn.DataParallel(m)\nloss = TripletLoss()", ["TripletLoss compares"], id="a loss over the batch"),
    pytest.param("m = nn.DataParallel(m)\naugment = RandomContrast()", [], id="contrast of another kind"),
    pytest.param("m = nn.DataParallel(m)\ndist.barrier()", ["calls of torch.distributed"], id="collectives already"),
    pytest.param(
        "m = nn.DataParallel(m)\nfor b in x:\n    try:\n        m(b).backward()\n    except E:\n        continue",
        ["that fails is skipped"],
        id="steps that are skipped",
    ),
]


@pytest.mark.parametrize(("code", "expected"), FORMS)
def test_every_form_is_seen(code: str, expected: list[tuple[Form, str]], tmp_path: Path) -> None:
    project, script = _read(code, tmp_path)
    assert [(use.form, use.name) for use in project.data_parallel.of(script)] == expected


@pytest.mark.parametrize(("code", "expected"), OBSTACLES)
def test_obstacles_are_named(code: str, expected: list[str], tmp_path: Path) -> None:
    project, script = _read(code, tmp_path)
    use = next(project.data_parallel.of(script))
    found = [obstacle.text for obstacle in project.obstacles.of(use)]
    assert len(found) == len(expected)
    assert all(part in text for part, text in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("m = nn.parallel.DistributedDataParallel(m)", True, id="called"),
        pytest.param("from apex.parallel import DistributedDataParallel as D\nm = D(m)", True, id="apex's"),
        pytest.param("def smart_DDP(m): ...\nm = smart_DDP(m)", True, id="a helper by its name"),
        pytest.param(
            "def wrap(m):\n    return nn.parallel.DistributedDataParallel(m)\nm = wrap(m)",
            True,
            id="a helper by its body",
        ),
        pytest.param("isinstance(m, nn.parallel.DistributedDataParallel)", False, id="only asked for"),
        pytest.param("m = nn.DataParallel(m)", False, id="the other class"),
    ],
)
def test_the_distributed_way_is_seen(code: str, expected: bool, tmp_path: Path) -> None:
    project, script = _read(code, tmp_path)
    assert project.data_parallel.has_ddp(script) is expected


def _read(code: str, folder: Path) -> tuple[Project, Script]:
    path = folder / "main.py"
    path.write_text(f"{HEAD}{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script
