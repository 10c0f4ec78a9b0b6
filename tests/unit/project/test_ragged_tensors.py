"""Tensors whose size depends on data, in collectives that want one size on all ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import torch\nimport torch.distributed as dist\n"
REDUCE = "dist.all_reduce(t)\n"


def _found(tmp_path: Path, text: str) -> int:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return len(list(project.ragged_tensors.of(script)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"t = x[x > 0]\n{REDUCE}", 1, id="what fulfils a condition"),
        pytest.param(f"m = x > 0\nt = x[m & (x < 1)].float()\n{REDUCE}", 1, id="what fulfils two"),
        pytest.param(f"t = torch.cat([x[x > 0], x])\n{REDUCE}", 1, id="put together with something else"),
        pytest.param(f"t = torch.nonzero(x)\n{REDUCE}", 1, id="what is not zero"),
        pytest.param(
            f"xs = []\nfor x in data:\n    if x > 0: xs.append(x)\nt = torch.stack(xs)\n{REDUCE}",
            1,
            id="what a loop picks",
        ),
        pytest.param(f"t = x[x > 0].sum()\n{REDUCE}", 0, id="a sum"),
        pytest.param(f"t = x[i]\n{REDUCE}", 0, id="an unknown index"),
        pytest.param(f"t = x[x > 0]\nif y: t = y\n{REDUCE}", 0, id="maybe something else"),
        pytest.param(
            f"xs = []\nfor x in data: xs.append(x)\nt = torch.stack(xs)\n{REDUCE}", 0, id="all that a loop has"
        ),
        pytest.param(f"dist.all_gather(sizes, n)\nt = x[x > 0]\n{REDUCE}", 0, id="sizes are exchanged before"),
        pytest.param("dist.broadcast(x[x > 0], 0)\n", 0, id="a collective that takes what one rank has"),
    ],
)
def test_sizes_that_depend_on_data(tmp_path: Path, text: str, expected: int) -> None:
    assert _found(tmp_path, text) == expected
