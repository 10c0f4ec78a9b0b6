"""Which loaders feed a model that several processes train together."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

IMPORTS = (
    "import torch\nimport torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"
    "from torch.utils.data import DataLoader\n"
)
STEP = "def epoch(model, loader):\n    for b in loader:\n        model(b).mean().backward()\n"
WRAPPED = "m = DDP(torch.nn.Linear(1, 1))\n"


def _understood(tmp_path: Path, code: str, name: str = "train.py") -> tuple[Project, Script]:
    (tmp_path / "setup.py").touch()
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(IMPORTS + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


CASES = [
    pytest.param(WRAPPED + "for b in DataLoader(d):\n    m(b).mean().backward()", True, id="a loop"),
    pytest.param(STEP + WRAPPED + "epoch(m, DataLoader(d))", True, id="a function"),
    pytest.param(
        WRAPPED + "i = iter(DataLoader(d))\nfor s in range(9):\n    m(next(i)).mean().backward()",
        True,
        id="an iterator",
    ),
    pytest.param(
        "class T:\n    def __init__(self, m):\n        self.m = DDP(m)\n        self.d = DataLoader(d)\n"
        "    def fit(self):\n        for b in self.d:\n            self.m(b).mean().backward()\nT(n).fit()",
        True,
        id="attributes",
    ),
    pytest.param(
        "dist.init_process_group()\nm = find()  # all_reduce\nfor b in DataLoader(d):\n    m(b).backward()",
        True,
        id="an unknown model where every process comes",
    ),
    pytest.param(
        "def average(m):\n    for p in m.parameters():\n        dist.all_reduce(p.grad)\n"
        "dist.init_process_group()\nm = torch.nn.Linear(1, 1)\n"
        "for b in DataLoader(d):\n    m(b).mean().backward()\n    average(m)",
        True,
        id="gradients that are averaged by hand",
    ),
    pytest.param(
        "dist.init_process_group()\nm = torch.nn.Linear(1, 1)\n"
        "for b in DataLoader(d):\n    loss = m(b).mean()\n    loss.backward()\n    dist.all_reduce(loss)",
        False,
        id="a loss that is averaged to be shown",
    ),
    pytest.param(
        WRAPPED + "for b in wrap(DataLoader(d)):\n    m(b).mean().backward()", None, id="in an unknown wrapper"
    ),
    pytest.param(
        "def f(extra):\n    m = DDP(n)\n    if extra:\n        for b in DataLoader(d):\n            m(b).backward()",
        None,
        id="under a switch that nobody gives",
    ),
    pytest.param(WRAPPED + "for b in DataLoader(d):\n    m(b).mean()", False, id="no backward pass"),
    pytest.param(
        STEP + WRAPPED + "epoch(m, x)\nn = torch.nn.Linear(1, 1)\nepoch(n, DataLoader(d))",
        False,
        id="a loop that is shared with a model that is trained together",
    ),
    pytest.param(
        WRAPPED + "if dist.get_rank() == 0:\n    for b in DataLoader(d):\n        m(b).mean().backward()",
        False,
        id="one rank",
    ),
    pytest.param(
        WRAPPED
        + "if args.distributed:\n    l = x\nelse:\n    l = DataLoader(d)\nfor b in l:\n    m(b).mean().backward()",
        False,
        id="a run with a single process",
    ),
    pytest.param("for b in DataLoader(d):\n    torch.nn.Linear(1, 1)(b).mean().backward()", False, id="a bare model"),
]


@pytest.mark.parametrize(("code", "together"), CASES)
def test_whether_processes_train_together(tmp_path: Path, code: str, together: bool | None) -> None:
    project, script = _understood(tmp_path, code)
    (loader,) = project.loaders(script)
    assert project.feeding.trains_together(loader) is together


def test_tests_train_nothing(tmp_path: Path) -> None:
    code = WRAPPED + "for b in DataLoader(d):\n    m(b).mean().backward()"
    project, script = _understood(tmp_path, code, "tests/test_train.py")
    (loader,) = project.loaders(script)
    assert project.feeding.trains_together(loader) is False
