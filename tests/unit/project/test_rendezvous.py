"""The ports at which processes meet, and those that are only a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

SETUP = "import os, subprocess\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
PORT = "os.environ['MASTER_PORT'] = '29501'"
CASES = [
    pytest.param(PORT, ["29501"], id="the variable"),
    pytest.param("p = 29501\nos.environ['MASTER_PORT'] = str(p)", ["29501"], id="a number made a text"),
    pytest.param("os.environ['MASTER_PORT'] = str(args.port)", [], id="an option"),
    pytest.param("os.environ['MASTER_PORT'] = port or '29501'", [], id="a default for what may be missing"),
    pytest.param("dist.init_process_group('nccl', 'tcp://h:29501')", ["29501"], id="a URL in its place"),
    pytest.param("dist.init_process_group(init_method=f'tcp://{h}:29501')", ["29501"], id="a URL with an unknown host"),
    pytest.param("dist.init_process_group(init_method=f'tcp://h:{p}')", [], id="a URL with an unknown port"),
    pytest.param("dist.init_process_group(init_method='env://')", [], id="a URL without a port"),
    pytest.param("dist.init_process_group(init_method='tcp://h:29501?rank=0')", ["29501"], id="a URL with a query"),
    pytest.param("dist.init_process_group(init_method=url or 'tcp://h:29501')", [], id="a default for a URL"),
    pytest.param(
        "def f(args):\n    dist.init_process_group(init_method=args.url)\nargs.url = 'tcp://h:29501'",
        ["29501"],
        id="an attribute set elsewhere in the file",
    ),
    pytest.param("dist.TCPStore('h', 29501, 2, True)", ["29501"], id="a store"),
    pytest.param("dist.TCPStore('h', port, 2, True)", [], id="a store with a port that is given"),
    pytest.param("subprocess.run(['torchrun', '--master-port', '29501'])", ["29501"], id="two words of a command"),
    pytest.param("os.system('torchrun --master_port=29501 train.py')", ["29501"], id="a command line"),
    pytest.param("c = ['torchrun', f'--master_port={p}']\nsubprocess.run(c)", [], id="a command with a given port"),
    pytest.param("subprocess.run(['serve', '--port', '29501'])", [], id="a command with another option"),
    pytest.param(f"if 'MASTER_PORT' not in os.environ:\n    {PORT}", [], id="when the variable is not set"),
    pytest.param(f"if args.port is None:\n    {PORT}", [], id="when the option is not given"),
    pytest.param(f"if args.support:\n    {PORT}", ["29501"], id="under a test of something else"),
    pytest.param(
        f"def f():\n    if os.environ.get('MASTER_ADDR'):\n        return\n    {PORT}",
        [],
        id="after a return when it is set",
    ),
    pytest.param(
        f"def f():\n    {PORT}\nif 'MASTER_PORT' not in os.environ:\n    f()", [], id="called when it is not set"
    ),
    pytest.param(
        f"def f():\n    {PORT}\nif n_gpus == 1:\n    f()\nelse:\n    mp.spawn(f)", ["29501"], id="also spawned"
    ),
    pytest.param(f"try:\n    start()\nexcept KeyError:\n    {PORT}", [], id="in an except block"),
    pytest.param(f"if world_size == 1:\n    {PORT}", [], id="when one process runs"),
    pytest.param(f"if world_size > 1:\n    {PORT}", ["29501"], id="when several processes run"),
    pytest.param(f"if world_size > 1:\n    ...\nelse:\n    {PORT}", [], id="else than when several run"),
    pytest.param(f"if not args.distributed:\n    {PORT}", [], id="when nothing is distributed"),
    pytest.param(f"if t:\n    rank, world_size = 0, 1\n    {PORT}", [], id="beside a world of one"),
    pytest.param(f"if t:\n    os.environ['WORLD_SIZE'] = '1'\n    {PORT}", [], id="beside WORLD_SIZE of one"),
    pytest.param(f"{PORT}\ndist.init_process_group('gloo', rank=0, world_size=1)", [], id="a group of one"),
    pytest.param(f"{PORT}\ndist.init_process_group('gloo', rank=r, world_size=2)", ["29501"], id="a group of two"),
]


def _script(folder: Path, code: str) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(f"{SETUP}{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


@pytest.mark.parametrize(("code", "ports"), CASES)
def test_ports_that_every_run_uses_are_found(code: str, ports: list[str], tmp_path: Path) -> None:
    project, script = _script(tmp_path, code)
    assert [port.port for port in project.meeting_ports(script)] == ports


SPAWNED = [
    pytest.param("mp.spawn(setup)", 1, id="spawned itself"),
    pytest.param("def run(rank):\n    setup()\nmp.spawn(run, nprocs=2)", 1, id="called by what is spawned"),
    pytest.param(
        "def start(fn):\n    mp.spawn(fn, nprocs=2)\ndef run(rank):\n    setup()\nstart(run)",
        1,
        id="handed to a helper",
    ),
    pytest.param("p = mp.Process(target=setup)\nmp.spawn(setup)", 2, id="started in two ways"),
    pytest.param("setup()", 0, id="called by nobody that is spawned"),
    pytest.param("def a():\n    b()\n    setup()\ndef b():\n    a()", 0, id="functions that call each other"),
]


@pytest.mark.parametrize(("code", "count"), SPAWNED)
def test_what_starts_the_processes_of_a_function_is_found(code: str, count: int, tmp_path: Path) -> None:
    project, script = _script(tmp_path, f"def setup(): ...\n{code}")
    assert len(project.spawners(script.functions[0])) == count
