"""Gathers between a model and its loss, through which no gradient comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = (
    "import torch\nimport torch.distributed as dist\nimport torch.nn.functional as F\nfrom torch import nn\n"
    "net = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))\n"
)
GATHER = "    parts = [torch.zeros_like(z)]\n    dist.all_gather(parts, z)\n"


def _beside(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [lost.beside for lost in project.lost_gradients.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"def f(x, y):\n    z = net(x)\n{GATHER}    F.mse_loss(torch.cat(parts), y).backward()\n",
            [False],
            id="the loss is computed from what was gathered",
        ),
        pytest.param(
            f"def g(z):\n{GATHER}    return torch.cat(parts)\ndef f(x, y):\n    F.mse_loss(g(net(x)), y).backward()\n",
            [False],
            id="a function gathers",
        ),
        pytest.param(
            f"class L(nn.Module):\n  def forward(self, z, y):\n{GATHER}    return F.mse_loss(torch.cat(parts), y)\n",
            [False],
            id="the features of a loss",
        ),
        pytest.param(
            f"class L(nn.Module):\n  def forward(self, z, a):\n{GATHER}    return F.mse_loss(a, torch.cat(parts))\n",
            [True],
            id="something else goes into the loss",
        ),
        pytest.param(
            f"def f(x, y):\n    z = net(x)\n{GATHER}    F.mse_loss(z @ torch.cat(parts), y).backward()\n",
            [True],
            id="the own values go into the loss as well",
        ),
        pytest.param(
            f"def f(x, y):\n    z = net(x)\n{GATHER}    parts[0] = z\n    F.mse_loss(torch.cat(parts), y).backward()\n",
            [],
            id="the own values are put back",
        ),
        pytest.param(
            f"def f(x, y):\n    z = y\n{GATHER}    F.mse_loss(net(x), torch.cat(parts)).backward()\n",
            [],
            id="labels are gathered",
        ),
        pytest.param(
            f"def f(x, y):\n    z = net(x).detach()\n{GATHER}    F.mse_loss(torch.cat(parts), y)\n",
            [],
            id="nobody wants a gradient",
        ),
        pytest.param(f"def f(x):\n    z = net(x)\n{GATHER}    return parts\n", [], id="no loss in sight"),
    ],
)
def test_gathers_in_which_a_gradient_ends(tmp_path: Path, text: str, expected: list[bool]) -> None:
    assert _beside(tmp_path, text) == expected
