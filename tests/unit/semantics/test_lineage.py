"""What classes derive from, and the methods that they inherit."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

IMPORT = "from torch.utils.data import DataLoader\n"


def _understood(tmp_path: Path, code: str) -> tuple[Project, Script]:
    (tmp_path / "setup.py").touch()
    path = tmp_path / "train.py"
    path.write_text(code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


KINDS = [
    pytest.param(IMPORT + "DataLoader()", {"torch.utils.data.DataLoader"}, id="torch's own class"),
    pytest.param(
        IMPORT + "class L(DataLoader): ...\nL()", {"torch.utils.data.DataLoader"}, id="a class that derives from it"
    ),
    pytest.param(
        IMPORT + "class A(DataLoader): ...\nclass L(A, B): ...\nL()",
        {"torch.utils.data.DataLoader", "?"},
        id="a class that derives from it through another one, and from something unknown",
    ),
    pytest.param("class L: ...\nL()", set(), id="a class that derives from nothing"),
    pytest.param("class L(L): ...\nL()", {"?"}, id="a class that seems to derive from itself"),
    pytest.param("L()", {"?"}, id="something that nobody defines"),
]


@pytest.mark.parametrize(("code", "kinds"), KINDS)
def test_what_a_class_is_a_kind_of(tmp_path: Path, code: str, kinds: set[str]) -> None:
    project, script = _understood(tmp_path, code)
    assert project.resolver.kinds(script.calls[-1].callee) == kinds


RUN = [
    pytest.param("class A:\n    def run(self): ...\nclass B(A): ...\nB().run()", "A", id="a method that it inherits"),
    pytest.param(
        "class A:\n    def run(self): ...\nclass B(A):\n    def run(self): ...\nB().run()",
        "B",
        id="one of its own",
    ),
    pytest.param(
        "class A: ...\nclass B:\n    def run(self): ...\nclass C(A, B): ...\nC().run()",
        "B",
        id="of a second base",
    ),
    pytest.param("class A:\n    def __init__(self): ...\nclass B(A): ...\nB()", "A", id="an inherited constructor"),
]


@pytest.mark.parametrize(("code", "owner"), RUN)
def test_which_method_a_call_runs(tmp_path: Path, code: str, owner: str) -> None:
    project, script = _understood(tmp_path, code)
    function = project.resolver.function_of(script.calls[-1])
    assert function is not None
    assert function.cls is not None
    assert function.cls.name == owner
