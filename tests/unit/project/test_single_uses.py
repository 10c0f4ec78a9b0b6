"""The statements that use what one rank should have."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.expressions import last_name

OBJECTS = [
    pytest.param("w = made()\nw.add(1)\nw.close()", ["w.add(1)", "w.close()"], id="calls of its methods"),
    pytest.param("w = made()\nif rank == 0:\n    w.add(1)\nw.close()", ["w.close()"], id="one under a test"),
    pytest.param("w = made()", [], id="no use"),
    pytest.param("w = made()\nx = w.add(1)", None, id="a value that is used"),
    pytest.param("w = made()\ntrain(w)", None, id="handed on"),
    pytest.param("self.w = made()\nself.w.add(1)", None, id="kept in an attribute"),
    pytest.param("with made() as w:\n    w.add(1)", None, id="a context"),
    pytest.param("v = w = made()\nw.add(1)", None, id="two names"),
]


@pytest.mark.parametrize(("body", "expected"), OBJECTS)
def test_uses_of_an_object(body: str, expected: list[str] | None, tmp_path: Path) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (tmp_path / "train.py").write_text(f"def main(self, rank):\n{lines}")
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    made = next(call for call in script.calls if last_name(call.callee) == "made")
    uses = project.single_uses.of_object(made)
    found = None if uses is None else [script.module.code_for_node(use.node) for use in uses]
    assert found == expected


MODULES = [
    pytest.param("wandb.log({})", "", ["wandb.log({})"], id="a call"),
    pytest.param("if rank == 0:\n    wandb.log({})", "", [], id="a call under a test"),
    pytest.param("c = wandb.config", "", None, id="an attribute that is read"),
    pytest.param("wandb.log({})", "import wandb\n", None, id="a file beside it"),
]


@pytest.mark.parametrize(("body", "beside", "expected"), MODULES)
def test_uses_of_a_module(body: str, beside: str, expected: list[str] | None, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(beside)
    (tmp_path / "train.py").write_text(f"import other\nimport wandb\nwandb.init()\n{body}\n")
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    started = next(call for call in script.calls if last_name(call.callee) == "init")
    uses = project.single_uses.of_module(started, "wandb")
    found = None if uses is None else [script.module.code_for_node(use.node) for use in uses]
    assert found == expected
