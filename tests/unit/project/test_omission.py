"""Whether ranks can go without a statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.expressions import last_name

CASES = [
    pytest.param("here(a.b, 'c', f'{d[0]:.2f}', {'e': 1})", True, id="names, constants and texts"),
    pytest.param("here(loss.item(), len(x))", True, id="harmless calls"),
    pytest.param("here(model.state_dict())", True, id="the state of a model"),
    pytest.param("from torch.distributed.fsdp import FSDP\nhere(model.state_dict())", False, id="a sharded state"),
    pytest.param("here(reduce(loss))", False, id="an unknown call"),
    pytest.param("x = here(a)", False, id="a value that is used"),
    pytest.param("def here(a):\n    return a\nhere(1)", True, id="a function of the file"),
    pytest.param("def here(a):\n    state.best = a\nhere(1)", False, id="a function that keeps something"),
    pytest.param(
        "import torch.distributed as dist\ndef here(a):\n    dist.barrier()\nhere(1)",
        False,
        id="a function with a barrier",
    ),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_what_ranks_can_go_without(code: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(code)
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    call = next(call for call in script.calls if last_name(call.callee) == "here")
    assert project.omissions.can_be_left_out(call) is expected
