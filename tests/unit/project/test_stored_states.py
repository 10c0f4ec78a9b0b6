"""States of models that carry the wrapper's prefix on one side of a checkpoint only."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
from torch import nn
from pathlib import Path

m = nn.Linear(2, 2)
"""
LOAD = "m.load_state_dict(torch.load('last.pt'))\n"
WRAP = "w = nn.DataParallel(m)\n"

CASES = [
    pytest.param(LOAD + WRAP + "torch.save(w.state_dict(), 'last.pt')", 1, id="saved wrapped, loaded bare"),
    pytest.param(LOAD + WRAP + "torch.save(w.module.state_dict(), 'last.pt')", 0, id="both bare"),
    pytest.param(LOAD + WRAP + "torch.save(w.state_dict(), 'first.pt')", 0, id="two files"),
    pytest.param(LOAD + WRAP + "torch.save({'m': w.state_dict()}, 'last.pt')", 0, id="another place in the file"),
    pytest.param(
        "m.load_state_dict(torch.load(Path('a') / 'e_3.pt'))\n" + WRAP + "torch.save(w.state_dict(), 'e_%d.pt' % 3)",
        0,
        id="names that may differ",
    ),
    pytest.param(
        "m.load_state_dict(torch.load(Path('a') / 'last.pt'))\n" + WRAP + "torch.save(w.state_dict(), f'{a}/last.pt')",
        1,
        id="one name under two folders",
    ),
    pytest.param(
        WRAP + "torch.save(m.state_dict(), 'last.pt')\nw.load_state_dict(torch.load('last.pt'))",
        1,
        id="saved bare, loaded wrapped",
    ),
    pytest.param(
        WRAP + "def put(x):\n    torch.save(x.state_dict(), 'last.pt')\nput(w)\n" + LOAD, 1, id="saved by a helper"
    ),
    pytest.param(
        LOAD + "if a:\n    w = nn.DataParallel(m)\nelse:\n    w = m\ntorch.save(w.state_dict(), 'last.pt')",
        0,
        id="wrapped on some runs",
    ),
    pytest.param(
        "m.load_state_dict(torch.load('last.pt'), strict=False)\n" + WRAP + "torch.save(w.state_dict(), 'last.pt')",
        0,
        id="not strict",
    ),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_states_with_the_prefix_on_one_side(code: str, expected: int, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert len(list(project.stored_states.mismatches(script))) == expected
