"""What a start without a launcher comes to, and whether a program is made for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.plain_starts import SingleRun
from ddplint.semantics import Script

HEAD = "import os\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
INIT = "dist.init_process_group('nccl')"
SIZE = "size = int(os.environ['WORLD_SIZE'])\n"


def parsed(folder: Path, code: str) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


@pytest.mark.parametrize(
    ("code", "comes"),
    [
        pytest.param("print()", True, id="outside functions"),
        pytest.param("if __name__ == '__main__':\n    print()", True, id="in the file that was started"),
        pytest.param("def f():\n    print()\nf()", True, id="in a function that is called"),
        pytest.param("def f():\n    print()", False, id="in a function that nobody calls"),
        pytest.param("def f(i):\n    print()\nmp.spawn(f)", False, id="in a process that is spawned"),
        pytest.param("if c:\n    print()", False, id="under a test"),
        pytest.param("def f():\n    if c:\n        return\n    print()\nf()", False, id="after an early return"),
        pytest.param("for i in x:\n    print()", False, id="in a loop, which may be empty"),
        pytest.param("try:\n    print()\nexcept KeyError:\n    pass", False, id="where the error is caught"),
        pytest.param("try:\n    print()\nexcept OSError:\n    pass", True, id="where another error is caught"),
    ],
)
def test_what_a_plain_start_comes_to(tmp_path: Path, code: str, comes: bool) -> None:
    project, script = parsed(tmp_path, code)
    [call] = [call for call in script.calls if project.names(call.callee) == {"builtins.print"}]
    assert project.plain_starts.comes_to(call) is comes


@pytest.mark.parametrize(
    ("code", "single"),
    [
        pytest.param(INIT, SingleRun.NOT_OFFERED, id="the group is always started"),
        pytest.param(f"if args.distributed:\n    {INIT}", SingleRun.OFFERED, id="an option"),
        pytest.param(f"if 'RANK' in os.environ:\n    {INIT}", SingleRun.OFFERED, id="a variable that may be missing"),
        pytest.param(f"if os.getenv('RANK') is not None:\n    {INIT}", SingleRun.OFFERED, id="a variable with None"),
        pytest.param(f"{SIZE}if size > 1:\n    {INIT}", SingleRun.COUNTED, id="the number of processes"),
        pytest.param(f"if dist.is_available():\n    {INIT}", SingleRun.NOT_OFFERED, id="a torch that knows of groups"),
        pytest.param(f"if not dist.is_initialized():\n    {INIT}", SingleRun.NOT_OFFERED, id="a group that is there"),
        pytest.param(f"if debug:\n    {INIT}", SingleRun.NOT_OFFERED, id="a test of something else"),
        pytest.param(
            f"if 'RANK' in os.environ:\n    {INIT}\nelse:\n    raise ValueError", SingleRun.NOT_OFFERED, id="a refusal"
        ),
        pytest.param(
            f"def f():\n    {INIT}\nif args.distributed:\n    f()", SingleRun.OFFERED, id="an option around a helper"
        ),
        pytest.param("", SingleRun.NOT_OFFERED, id="there is no group"),
    ],
)
def test_whether_a_program_also_runs_alone(tmp_path: Path, code: str, single: SingleRun) -> None:
    project, script = parsed(tmp_path, code)
    assert project.plain_starts.single_run(script) is single
