"""Process groups of spawned processes for which nobody sets where they meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import os\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
SPAWN = "if __name__ == '__main__': mp.spawn(w, args=(2,), nprocs=2)\n"
NUMBERED = "def w(r, n): dist.init_process_group('gloo', rank=r, world_size=n)\n"


def _variables(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [name for missing in project.meeting_places.missing(script) for name in missing.variables]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(NUMBERED + SPAWN, ["MASTER_ADDR", "MASTER_PORT"], id="nobody sets the place"),
        pytest.param(
            f"os.environ['MASTER_ADDR'] = 'localhost'\n{NUMBERED}{SPAWN}", ["MASTER_PORT"], id="nobody sets the port"
        ),
        pytest.param(
            "def w(r, n): dist.init_process_group()\n" + SPAWN,
            ["MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"],
            id="nobody sets anything",
        ),
        pytest.param(NUMBERED, [], id="nobody starts processes"),
        pytest.param("def w(r, n): dist.init_process_group(init_method=n)\n" + SPAWN, [], id="an address is given"),
        pytest.param("def w(r, n): dist.init_process_group(**n)\n" + SPAWN, [], id="it may be given"),
        pytest.param(
            f"os.environ.update(MASTER_ADDR='a', MASTER_PORT='1')\n{NUMBERED}{SPAWN}", [], id="set with others"
        ),
    ],
)
def test_variables_that_nobody_sets(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert _variables(tmp_path, text) == expected
