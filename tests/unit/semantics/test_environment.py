"""Where a script writes environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Constant

CASES = [
    pytest.param("os.environ['PORT'] = 1", ["ITEM 1"], id="an item of the environment"),
    pytest.param("from os import environ as e\ne['PORT'] = 1", ["ITEM 1"], id="the environment under another name"),
    pytest.param("os.environ.setdefault('PORT', 1)", ["DEFAULT 1"], id="a default"),
    pytest.param("os.environ.update({'PORT': 1, 'HOST': 2})", ["UPDATE 1"], id="an update from a display"),
    pytest.param("os.environ.update(HOST=2, PORT=1)", ["UPDATE 1"], id="an update by keyword"),
    pytest.param("more = {'PORT': 1}\nos.environ.update(more)", ["UPDATE 1"], id="an update from a variable"),
    pytest.param("os.putenv('PORT', 1)", ["PUTENV 1"], id="putenv"),
    pytest.param("e = os.environ.copy()\ne['PORT'] = 1", ["CHILD 1"], id="a copy for a child"),
    pytest.param("e = dict(os.environ)\ne['PORT'] = 1", ["CHILD 1"], id="a dict made from the environment"),
    pytest.param("e = {}\ne['PORT'] = 1", [], id="any other mapping"),
    pytest.param("os.environ['HOST'] = 1", [], id="another variable"),
    pytest.param("os.environ.get('PORT', 1)", [], id="a variable that is read"),
    pytest.param("os.environ['PORT'], b = 1, 2", [], id="a value that has to be unpacked first"),
]


@pytest.mark.parametrize(("code", "writes"), CASES)
def test_writes_of_a_variable_are_found(code: str, writes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import os\n{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    found = project.environment_writes(script, "PORT")
    assert [f"{w.form.name} {w.value.value if isinstance(w.value, Constant) else '?'}" for w in found] == writes


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        pytest.param("os.environ['A']", ["A - True"], id="an item of the environment"),
        pytest.param("if os.environ['A'] == '1':\n    pass", ["A - True"], id="an item in a test"),
        pytest.param("os.environ.get('A')", ["A - False"], id="a variable that may be missing"),
        pytest.param("os.getenv('A', '1')", ["A 1 False"], id="a default in its place"),
        pytest.param("os.getenv('A', default='1')", ["A 1 False"], id="a default by keyword"),
        pytest.param("os.environ.pop('A')", ["A - True"], id="a variable that is taken away"),
        pytest.param("os.environ['A'] = '1'", [], id="a variable that is set"),
        pytest.param("os.environ[name]", [], id="a variable that is not known"),
        pytest.param("settings['A'], settings.get('A')", [], id="another mapping"),
    ],
)
def test_reads_of_variables_are_found(code: str, reads: list[str], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import os\n{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    found = project.environment_reads(script)
    defaults = [read.default.value if isinstance(read.default, Constant) else "-" for read in found]
    assert [f"{r.variable} {d} {r.must_exist}" for r, d in zip(found, defaults, strict=True)] == reads
