"""Code that one rank has been through, or goes through, before the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Call

HEAD = "import torch\nimport torch.distributed as dist\nrank = dist.get_rank()\n"


def _last(tmp_path: Path, text: str, name: str) -> tuple[Project, Call]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, [call for call in script.calls if getattr(call.callee, "name", None) == name][-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "if rank:\n    dist.barrier()\ntorch.load(1)\nif not rank:\n    dist.barrier()\n", True, id="between"
        ),
        pytest.param(
            "if rank:\n    dist.barrier()\nif not rank:\n    dist.barrier()\ntorch.load(1)\n", False, id="after"
        ),
        pytest.param("torch.load(1)\nif rank:\n    dist.barrier()\n", False, id="before"),
        pytest.param("if rank:\n    dist.barrier()\ntorch.load(1)\n", False, id="behind a barrier that nobody answers"),
        pytest.param(
            "if rank != -1:\n    dist.barrier()\ntorch.load(1)\nif rank:\n    dist.barrier()\n", False, id="no test"
        ),
        pytest.param("dist.barrier()\ntorch.load(1)\ndist.barrier()\n", False, id="between barriers of all ranks"),
        pytest.param(
            "def wait():\n    dist.barrier()\nif rank:\n    wait()\ntorch.load(1)\nif not rank:\n    wait()\n",
            True,
            id="behind a helper",
        ),
        pytest.param(
            "if rank == 0:\n    dist.barrier()\nelse:\n    dist.barrier()\ntorch.load(1)\n",
            False,
            id="after both sides",
        ),
    ],
)
def test_one_rank_goes_first(tmp_path: Path, text: str, expected: bool) -> None:
    project, call = _last(tmp_path, text, "load")
    assert project.turns.is_in_turn(call) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("if rank == 0:\n    torch.load(1)\ndist.barrier()\ntorch.load(1)\n", True, id="the same call"),
        pytest.param("if rank == 0:\n    torch.load(1)\ntorch.load(1)\ndist.barrier()\n", False, id="nobody waits"),
        pytest.param("torch.load(1)\ndist.barrier()\ntorch.load(1)\n", False, id="all ranks make the first call"),
        pytest.param("if rank == 0:\n    torch.save(1, 2)\ndist.barrier()\ntorch.load(1)\n", False, id="another call"),
        pytest.param(
            "def first():\n    torch.load(1)\nif rank == 0:\n    first()\ndist.barrier()\ntorch.load(1)\n",
            True,
            id="in a function that one rank runs",
        ),
        pytest.param(
            "def then():\n    return torch.load(1)\nif rank == 0:\n    then()\ndist.barrier()\nthen()\n",
            True,
            id="in a function that one rank runs before all do",
        ),
    ],
)
def test_one_rank_has_prepared_it(tmp_path: Path, text: str, expected: bool) -> None:
    project, call = _last(tmp_path, text, "load")
    assert project.turns.was_prepared(call) is expected
