"""Asynchronous exchanges that nobody waits for in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import torch\nimport torch.distributed as dist\nt = torch.ones(1)\n"
GO = "dist.all_reduce(t, async_op=True)"


def _found(tmp_path: Path, text: str) -> list[tuple[bool, bool]]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [(one.read is not None, one.doubtful) for one in project.pending_works.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{GO}\n", [(False, False)], id="dropped"),
        pytest.param(f"w = {GO}\n", [(False, False)], id="never looked at"),
        pytest.param(f"all = []\nall.append({GO})\n", [(False, False)], id="in a list that nobody looks at"),
        pytest.param(f"{GO}\ntorch.cuda.synchronize()\n", [(False, True)], id="dropped before the GPU is synchronised"),
        pytest.param(f"{GO}\ndist.barrier()\n", [(False, True)], id="dropped before an exchange that waits"),
        pytest.param(f"w = {GO}\nprint(t)\nw.wait()\n", [(True, False)], id="read before the wait"),
        pytest.param(
            f"def go(t):\n    return {GO}\nw = go(t)\nprint(t)\nw.wait()\n",
            [(True, False)],
            id="read before the wait for a helper's",
        ),
        pytest.param(f"w = {GO}\nprint(t.shape)\nw.wait()\nprint(t)\n", [], id="read after the wait"),
        pytest.param(f"w = {GO}\nif t.dim():\n    w.wait()\n", [], id="waited for in a branch"),
        pytest.param(f"{GO}.wait()\n", [], id="waited for at once"),
        pytest.param(f"all = [{GO}]\nfor w in all:\n    w.wait()\n", [], id="waited for in a loop"),
        pytest.param(f"def f():\n    return {GO}\n", [], id="handed to the caller"),
        pytest.param(f"works = {{}}\nworks['t'] = {GO}\n", [], id="stored"),
        pytest.param("dist.all_reduce(t)\n", [], id="an exchange that waits by itself"),
        pytest.param("dist.all_reduce(t, async_op=bool(t))\n", [], id="asynchronous or not"),
    ],
)
def test_exchanges_that_are_left_alone(tmp_path: Path, text: str, expected: list[tuple[bool, bool]]) -> None:
    assert _found(tmp_path, text) == expected
