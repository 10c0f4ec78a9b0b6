"""Paths of a run that each rank draws for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.expressions import last_name

HEAD = "import os, time\nimport torch.distributed as dist\ndist.init_process_group('gloo')\nrank = dist.get_rank()\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("os.makedirs(str(time.time()))\n", ["makedirs"], id="a folder"),
        pytest.param("open(str(time.time()), 'w')\n", ["open"], id="a file"),
        pytest.param(
            "run = str(time.time())\nos.makedirs(run)\nopen(run + '/x', 'w')\n", ["makedirs"], id="used twice"
        ),
        pytest.param("if rank == 0:\n    os.makedirs(str(time.time()))\n", [], id="a folder of one rank"),
        pytest.param("run = str(time.time()) if rank == 0 else 'x'\nos.makedirs(run)\n", [], id="drawn by one rank"),
        pytest.param("print(time.time())\n", [], id="no path"),
    ],
)
def test_the_first_uses_of_what_is_drawn(tmp_path: Path, text: str, expected: list[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert [last_name(found.use.callee) for found in project.run_paths.of(script)] == expected
