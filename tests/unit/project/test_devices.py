"""By which number a process chose its GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Name

HEAD = """
import os
import torch
import torch.distributed as dist

"""
RANK = "rank = int(os.environ['LOCAL_RANK'])\n"
CHOSEN = [
    pytest.param(f"{RANK}torch.cuda.set_device(rank)\nhere()\n", id="the local rank"),
    pytest.param(
        "def main():\n    rank = int(os.environ['LOCAL_RANK'])\n    torch.cuda.set_device(rank)\n    if rank:\n"
        "        here()\n",
        id="in the function around",
    ),
]
NOT_CHOSEN = [
    pytest.param(f"{RANK}here()\ntorch.cuda.set_device(rank)\n", id="only later"),
    pytest.param(f"{RANK}if rank:\n    torch.cuda.set_device(rank)\nhere()\n", id="on some runs"),
    pytest.param(f"{RANK}torch.cuda.set_device(rank)\nrank = 0\nhere()\n", id="under a name that changed since"),
    pytest.param("rank = dist.get_rank()\ntorch.cuda.set_device(rank)\nhere()\n", id="the rank in the whole job"),
    pytest.param(f"{RANK}torch.zeros(2).to(rank)\nhere()\n", id="for one tensor"),
    pytest.param(f"{RANK}torch.cuda.set_device(rank)\ndef f():\n    here()\n", id="in another function"),
]


def _chosen(text: str, folder: Path) -> Name | None:
    path = folder / "train.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    [here] = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here"]
    return project.devices.chosen_before(here)


@pytest.mark.parametrize("text", CHOSEN)
def test_the_name_of_the_index_is_known(text: str, tmp_path: Path) -> None:
    chosen = _chosen(text, tmp_path)
    assert chosen is not None
    assert chosen.id == "rank"


@pytest.mark.parametrize("text", NOT_CHOSEN)
def test_no_name_is_known(text: str, tmp_path: Path) -> None:
    assert _chosen(text, tmp_path) is None
