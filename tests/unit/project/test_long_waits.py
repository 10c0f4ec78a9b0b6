"""Long work of one rank, while the others wait with the default timeout."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = "import torch.distributed as dist\n"
INIT = "dist.init_process_group('nccl')\nrank = dist.get_rank()\n"
LOOP = "def {name}(loader):\n    for x in loader: print(x)\n"
FIRST = "if rank == 0: {name}(loader)\ndist.barrier()\n"


def _doubts(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [found.doubtful for found in project.long_waits.of(script)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("tokenize", [False], id="the corpus is tokenized"),
        pytest.param("build_vocab", [False], id="a vocabulary is built"),
        pytest.param("evaluate", [True], id="the model is evaluated"),
        pytest.param("report", [], id="nobody knows how long that takes"),
    ],
)
def test_work_is_told_by_its_name(tmp_path: Path, name: str, expected: list[bool]) -> None:
    assert _doubts(tmp_path, LOOP.format(name=name) + INIT + FIRST.format(name=name)) == expected


TOKENIZE = LOOP.format(name="tokenize")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"{TOKENIZE}{INIT}if rank != 0: dist.barrier()\ntokenize(xs)\nif rank == 0: dist.barrier()\n",
            1,
            id="between two barriers",
        ),
        pytest.param(
            f"{TOKENIZE}{INIT}def first():\n    if rank: dist.barrier()\n    yield\n    if not rank: dist.barrier()\n"
            "with first():\n    tokenize(xs)\n",
            1,
            id="in a block that lets one rank go first",
        ),
        pytest.param(f"{INIT}if rank == 0: xs.map(f, batched=True)\ndist.barrier()\n", 1, id="a mapping"),
        pytest.param(
            f"{LOOP.format(name='evaluate')}{INIT}for e in x:\n    dist.all_reduce(e)\n"
            "    if rank == 0: evaluate(loader)\n",
            1,
            id="in the next round",
        ),
        pytest.param(
            f"{TOKENIZE}{INIT}for e in x:\n    dist.all_reduce(e)\n    if rank == 0: tokenize(e)\n",
            0,
            id="one batch after the other",
        ),
        pytest.param(
            f"{LOOP.format(name='evaluate')}{INIT}if rank == 0: evaluate(scores)\ndist.barrier()\n",
            0,
            id="scores are evaluated, not a model",
        ),
        pytest.param(f"{TOKENIZE}{INIT}if rank == 0: tokenize(xs)\n", 0, id="nobody waits"),
        pytest.param(f"{TOKENIZE}{INIT}tokenize(xs)\ndist.barrier()\n", 0, id="all ranks work"),
        pytest.param(f"{TOKENIZE}rank = 0\n{FIRST.format(name='tokenize')}", 0, id="no group in sight"),
        pytest.param(
            f"{TOKENIZE}dist.init_process_group('nccl', timeout=t)\nrank = dist.get_rank()\n"
            + FIRST.format(name="tokenize"),
            0,
            id="a timeout is given",
        ),
    ],
)
def test_waits(tmp_path: Path, text: str, expected: int) -> None:
    assert len(_doubts(tmp_path, text)) == expected
