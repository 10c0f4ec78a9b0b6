"""Files that every rank writes: what counts as a write, and where it would be guarded."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.writes import WriteKind

HEAD = """
import csv, io, os
import numpy as np
import torch
import torch.distributed as dist
dist.init_process_group('nccl')
rank = dist.get_rank()
"""
CASES = [
    pytest.param("torch.save(x, 'a')", ["torch.save(x, 'a')"], id="a function of torch"),
    pytest.param("torch.save(x, f='a')", ["torch.save(x, f='a')"], id="a path by keyword"),
    pytest.param("np.save('a', x)", ["np.save('a', x)"], id="a function of numpy"),
    pytest.param("model.save_pretrained('a')", ["model.save_pretrained('a')"], id="a method by its name"),
    pytest.param("open('a', 'w')", ["open('a', 'w')"], id="a file opened for writing"),
    pytest.param("with open('a', 'wb') as f:\n    torch.save(x, f)", ["open('a', 'wb')"], id="an open file, once"),
    pytest.param("open('a')", [], id="a file that is read"),
    pytest.param("open('a', mode)", [], id="an unknown mode"),
    pytest.param("open('a', 'a')", [], id="a log"),
    pytest.param("with open('a', 'w') as f:\n    csv.writer(f).writerow(x)", [], id="rows"),
    pytest.param("open(os.devnull, 'w')", [], id="nowhere"),
    pytest.param("b = io.BytesIO()\ntorch.save(x, b)", [], id="memory"),
    pytest.param("torch.save(x, f'{rank}')", [], id="a path of the rank"),
    pytest.param("if rank == 0:\n    torch.save(x, 'a')", [], id="a test of the rank"),
    pytest.param("if not os.path.exists('a'):\n    torch.save(x, 'a')", [], id="a cache"),
    pytest.param("def save(p):\n    torch.save(x, p)\nsave('a')", ["save('a')"], id="at the call of a helper"),
    pytest.param(
        "def save(p):\n    torch.save(x, p)\nif rank == 0:\n    save('a')\nsave('b')",
        ["save('b')"],
        id="at the one call of a helper that all make",
    ),
    pytest.param(
        "def save(p):\n    torch.save(x, p)\nsave('a')\nsave(f'{rank}')", ["save('a')"], id="at the call with one path"
    ),
    pytest.param("def save(p):\n    if rank == 0:\n        torch.save(x, p)\nsave('a')", [], id="a test in a helper"),
    pytest.param(
        "def eval_ckpt():\n    torch.save(x, 'a')\neval_ckpt()",
        ["torch.save(x, 'a')"],
        id="in what does more than save",
    ),
    pytest.param("def end():\n    torch.save(x, 'a')\nend()", ["torch.save(x, 'a')"], id="in what is no helper"),
    pytest.param(
        "from torch.distributed.checkpoint.state_dict import get_model_state_dict\n"
        "def save(p):\n    torch.save(get_model_state_dict(m), p)\nsave('a')",
        [],
        id="a helper that all ranks have to call",
    ),
    pytest.param("def dump(p):\n    torch.save(x, p)", [], id="a helper that nobody calls"),
]


@pytest.mark.parametrize(("code", "places"), CASES)
def test_what_every_rank_writes(code: str, places: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + code)
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    found = [script.module.code_for_node(save.place.node) for save in project.saves.of(script, WriteKind.WHOLE)]
    assert found == places


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("with open('a', 'a') as f:\n    f.write('done')", 1, id="lines that all write alike"),
        pytest.param("with open('a', 'a') as f:\n    f.write(f'{rank}: done')", 0, id="lines that name the rank"),
        pytest.param("with open('a', 'a'):\n    pass", 0, id="a file that is only made"),
        pytest.param("with open('a', 'a') as f:\n    print(rank, file=f)", 0, id="printed lines that name the rank"),
    ],
)
def test_logs_of_every_rank(code: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + code)
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    assert len(list(project.saves.of(script, WriteKind.LOG))) == expected
