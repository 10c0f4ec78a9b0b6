"""How process groups end, and what leads to their start."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script
from ddplint.semantics.shown import written

HEAD = "import atexit\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
END = "dist.destroy_process_group()"


def parsed(folder: Path, code: str) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


@pytest.mark.parametrize(
    ("code", "may_be"),
    [
        pytest.param(END, True, id="at the end"),
        pytest.param(f"def clean():\n    {END}", True, id="in a helper"),
        pytest.param("atexit.register(dist.destroy_process_group)", True, id="handed on"),
        pytest.param(f"try:\n    f()\nexcept OSError:\n    {END}", False, id="on an error only"),
        pytest.param(f"try:\n    f()\nfinally:\n    {END}", True, id="in any case"),
        pytest.param("# destroy_process_group is not needed", False, id="in a comment"),
    ],
)
def test_whether_a_group_may_be_destroyed(tmp_path: Path, code: str, may_be: bool) -> None:
    project, script = parsed(tmp_path, code)
    assert project.group_ends.may_be_destroyed(script) is may_be


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        pytest.param("dist.barrier()", ["dist.barrier()"], id="a call outside functions"),
        pytest.param("def f():\n    dist.barrier()\nf()", ["f()"], id="a function that is called"),
        pytest.param("def f(i):\n    dist.barrier()\nmp.spawn(f)", ["mp.spawn(f)"], id="a function that is spawned"),
        pytest.param("def f():\n    dist.barrier()\ndef g():\n    f()\ng()", ["g()"], id="through another function"),
        pytest.param("def f():\n    dist.barrier()", [], id="a function for others"),
    ],
)
def test_what_leads_to_a_call(tmp_path: Path, code: str, entries: list[str]) -> None:
    project, script = parsed(tmp_path, code)
    [call] = project.calls(script, "torch.distributed.barrier")
    assert [written(entry) for entry in project.group_ends.entries(call)] == entries
