"""Who takes what from a checkpoint that is read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

CASES = [
    pytest.param("m.load_state_dict(torch.load(p))", (True, True), id="handed on at once"),
    pytest.param("c = torch.load(p)\nm.load_state_dict(c['model'])", (True, True), id="a part by its key"),
    pytest.param("c = torch.load(p)\nm.load_state_dict(c.get('model'))", (True, True), id="a part by get"),
    pytest.param("c = torch.load(p)\nm.load_state_dict(c['m'])\ne = c['epoch']", (True, True), id="and a number"),
    pytest.param("c = torch.load(p)\nm.load_state_dict(c['m'])\ne = f(c['best'])", (True, False), id="and a tensor"),
    pytest.param("c = torch.load(p)\nm.load_state_dict(c['m'])\ns.c = c", (True, False), id="kept in an attribute"),
    pytest.param("c = torch.load(p)\nm.load_state_dict({k: v for k, v in c.items()})", (True, True), id="renamed"),
    pytest.param("c = torch.load(p)\nif 'm' in c:\n    m.load_state_dict(c)", (True, True), id="asked for a key"),
    pytest.param(
        "def r():\n    return torch.load(p)\nm.load_state_dict(r()['m'])", (True, True), id="through a helper"
    ),
    pytest.param("def r(c):\n    m.load_state_dict(c)\nr(torch.load(p))", (True, True), id="handed to a function"),
    pytest.param("m.load_state_dict(torch.load(p), assign=True)", (True, False), id="assigned to the model"),
    pytest.param("x, y = torch.load(p)", (False, False), id="data"),
    pytest.param("torch.load(p)", (False, False), id="not kept"),
    pytest.param("f(torch.load(p))", (False, False), id="handed to something unknown"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_who_takes_a_checkpoint(code: str, expected: tuple[bool, bool], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import torch\n{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    [load] = project.calls(script, "torch.load")
    assert (project.checkpoints.feeds_state(load), project.checkpoints.feeds_only_state(load)) == expected
