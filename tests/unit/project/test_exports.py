"""Whether other files read a name that a file binds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

BINDS = "from torch.cuda.amp import autocast\n"
CASES = [
    pytest.param("", "from lib.tools import other\nautocast()", False, id="a file that imports something else"),
    pytest.param("", "from lib.tools import autocast", True, id="a file that imports the name"),
    pytest.param("", "from lib.tools import autocast as a", True, id="a file that imports it under another name"),
    pytest.param("", "from lib import tools\ntools.autocast()", True, id="a file that reads it from the module"),
    pytest.param("", "import lib.tools as t\nt.autocast()", True, id="a file that reads it from an alias"),
    pytest.param("", "from lib import tools\nother.autocast()", False, id="a file that reads another's attribute"),
    pytest.param("", "from lib.tools import *\nautocast()", True, id="a file that gets it through a star"),
    pytest.param("", "from lib.tools import *\nother()", False, id="a star import that leaves the name alone"),
    pytest.param(
        "", "from lib.tools import *\nfrom torch import autocast\nautocast()", False, id="a star and an import of it"
    ),
    pytest.param("__all__ = ['autocast']\n", "", True, id="a name that __all__ lists"),
    pytest.param("__all__ = ['other'] + ['third']\n", "", False, id="an __all__ without it"),
    pytest.param("__all__ = [n for n in dir()]\n", "", True, id="an __all__ that can't be read"),
]


@pytest.mark.parametrize(("binds", "other", "expected"), CASES)
def test_a_name_that_other_files_read_is_known(binds: str, other: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "setup.py").touch()
    (tmp_path / "lib" / "__init__.py").touch()
    tools = tmp_path / "lib" / "tools.py"
    tools.write_text(BINDS + binds)
    (tmp_path / "train.py").write_text(other + "\n")
    project = Workspace().project(tools)
    script = project.script(tools)
    assert script is not None
    assert project.is_read_elsewhere(script.scope, "autocast") is expected


def test_names_of_packages_are_for_others_and_names_of_functions_are_not(tmp_path: Path) -> None:
    package = tmp_path / "__init__.py"
    package.write_text(f"{BINDS}def f():\n    from torch.cuda.amp import autocast as inner\n")
    project = Workspace().project(package)
    script = project.script(package)
    assert script is not None
    assert project.is_read_elsewhere(script.scope, "autocast")
    assert not project.is_read_elsewhere(script.functions[0].scope, "inner")


TYPE_TESTS = [
    pytest.param("isinstance(s, GradScaler)", True, id="isinstance"),
    pytest.param("isinstance(s, (Other, amp.GradScaler))", True, id="isinstance with a tuple"),
    pytest.param("self.assertIsInstance(s, GradScaler)", True, id="an assertion of a test"),
    pytest.param("if type(s) is torch.cuda.amp.GradScaler: ...", True, id="the type itself"),
    pytest.param("HOOKS[torch.cuda.amp.GradScaler] = save", True, id="a table by type"),
    pytest.param("patch('lib.torch.cuda.amp.GradScaler')", True, id="a name that a test replaces"),
    pytest.param("def f(s: Optional[GradScaler] = None): ...", False, id="an annotation"),
    pytest.param("scaler = GradScaler()", False, id="a call"),
    pytest.param("isinstance(s, Other); GradScaler()", False, id="a test of another class"),
]


@pytest.mark.parametrize(("code", "expected"), TYPE_TESTS)
def test_code_that_tells_a_class_from_its_base_is_known(code: str, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert project.is_told_apart(script, "GradScaler") is expected
