"""Tensors on the CPU that are given to collectives of NCCL."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import torch\nimport torch.distributed as dist\n"
NCCL = "dist.init_process_group('nccl')\n"


def _always(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [tensor.always for tensor in project.cpu_tensors.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{NCCL}dist.all_reduce(torch.zeros(1))\n", [True], id="made where it is given"),
        pytest.param(f"{NCCL}t = torch.zeros(1).sum()\ndist.reduce(tensor=t, dst=0)\n", [True], id="by keyword"),
        pytest.param(f"{NCCL}dist.all_gather([torch.zeros(1)] * 2, torch.zeros(1))\n", [True], id="one of two"),
        pytest.param(f"{NCCL}def f(t): dist.all_reduce(t)\nf(x.cpu())\n", [True], id="through a function"),
        pytest.param(
            "dist.init_process_group('nccl' if x else 'gloo')\ndist.all_reduce(torch.zeros(1))\n",
            [False],
            id="where the backend is NCCL",
        ),
        pytest.param(f"{NCCL}dist.all_reduce(torch.zeros(1, device=d))\n", [], id="made on a device"),
        pytest.param(f"{NCCL}dist.all_reduce(torch.zeros(1, **more))\n", [], id="maybe made on a device"),
        pytest.param(f"{NCCL}dist.all_reduce(torch.tensor(x))\n", [], id="a copy of what may be a tensor"),
        pytest.param(f"{NCCL}dist.all_reduce(torch.zeros_like(x))\n", [], id="where another one is"),
        pytest.param(f"{NCCL}t = torch.zeros(1)\nif x: t = t.cuda()\ndist.all_reduce(t)\n", [], id="maybe moved"),
        pytest.param(f"{NCCL}dist.all_reduce(torch.zeros(1), group=g)\n", [], id="in a group of its own"),
        pytest.param(f"{NCCL}dist.all_gather_object(x, torch.zeros(1))\n", [], id="as an object"),
        pytest.param("dist.init_process_group()\ndist.all_reduce(torch.zeros(1))\n", [], id="whatever backend fits"),
        pytest.param("dist.init_process_group(x)\ndist.all_reduce(torch.zeros(1))\n", [], id="an unknown backend"),
    ],
)
def test_tensors_on_the_cpu(tmp_path: Path, text: str, expected: list[bool]) -> None:
    assert _always(tmp_path, text) == expected
