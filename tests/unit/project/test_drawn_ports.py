"""Ports that processes draw for themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.shown import written

HEAD = "import os, random, socket, time\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
START = "    dist.init_process_group('gloo', rank=i)\nif __name__ == '__main__':\n    mp.spawn(f, nprocs=2)"
SET = "    os.environ['MASTER_PORT'] = str({})\n"
DRAW = "random.randint(1, 9)"
CASES = [
    pytest.param(f"def f(i):\n{SET.format(DRAW)}{START}", [DRAW], id="drawn at random"),
    pytest.param(f"def f(i):\n{SET.format('os.getpid()')}{START}", ["os.getpid()"], id="the number of the process"),
    pytest.param(f"def f(i):\n{SET.format('5000 + i')}{START}", [], id="another number"),
    pytest.param(f"def f(i):\n    p = {DRAW}\n{SET.format('p')}{START}", [DRAW], id="through a name"),
    pytest.param(f"def g(p):\n{SET.format('p')}def f(i):\n    g({DRAW})\n{START}", [DRAW], id="given to a helper"),
    pytest.param(
        f"def f(i, p):\n{SET.format('p')}def main():\n    mp.spawn(f, args=({DRAW},))", [], id="handed on by the parent"
    ),
    pytest.param(f"def f(i, p={DRAW}):\n{SET.format('p')}{START}", [], id="a parameter"),
    pytest.param(f"def d():\n    return {DRAW}\ndef f(i):\n{SET.format('d()')}{START}", ["d()"], id="in a helper"),
    pytest.param(f"def f(i):\n    if i == 0:\n    {SET.format(DRAW)}{START}", [], id="under a test of the rank"),
    pytest.param(f"def f(i):\n    random.seed(1)\n{SET.format(DRAW)}{START}", [], id="after a seed"),
    pytest.param(f"def f(i):\n{SET.format(f'share({DRAW})')}{START}", [], id="handed to a function nobody knows"),
    pytest.param(f"def f(i):\n{SET.format(DRAW)}mp.Process(target=f, args=(0,))", [], id="in forked processes"),
    pytest.param(f"def f(i):\n{SET.format(DRAW)}", [], id="in a function that nobody runs"),
    pytest.param(
        f"def f(i):\n    dist.init_process_group('gloo', f'tcp://h:{{{DRAW}}}')\nmp.spawn(f)", [DRAW], id="in a URL"
    ),
]


@pytest.mark.parametrize(("code", "draws"), CASES)
def test_ports_that_each_process_draws(tmp_path: Path, code: str, draws: list[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert [written(port.draw) for port in project.drawn_ports.of(script)] == draws
