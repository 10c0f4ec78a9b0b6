"""On how many machines a program runs, and where it takes a number for the rank among all processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script
from ddplint.semantics.shown import written

HEAD = "import os\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\ndef f(i): pass\n"
OPTION = "parser.add_argument('{}')"


def parsed(folder: Path, code: str) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


@pytest.mark.parametrize(
    ("code", "is_one", "are_several"),
    [
        pytest.param("dist.init_process_group('nccl')", False, False, id="nothing is said"),
        pytest.param("os.environ['MASTER_ADDR'] = 'localhost'", True, False, id="the machine's own address"),
        pytest.param("os.environ.setdefault('MASTER_ADDR', 'localhost')", False, False, id="an address as a default"),
        pytest.param("dist.init_process_group('nccl', 'tcp://127.0.0.1:2')", True, False, id="the address in a URL"),
        pytest.param("dist.init_process_group('nccl', f'tcp://localhost:{p}')", True, False, id="with any port"),
        pytest.param("dist.init_process_group('nccl', f'tcp://{host}:2')", False, False, id="an unknown address"),
        pytest.param("mp.spawn(f)", True, False, id="a parent that knows of no other machine"),
        pytest.param("mp.spawn(f)\n" + OPTION.format("--node_rank"), False, True, id="a parent that does"),
        pytest.param("# torchrun --standalone train.py", True, False, id="instructions for one machine"),
        pytest.param(OPTION.format("--num-nodes"), False, True, id="an option for the number of machines"),
        pytest.param("import dgl\n" + OPTION.format("--num_nodes"), False, False, id="the nodes of a graph"),
        pytest.param("os.environ['SLURM_NNODES']", False, True, id="a variable of the launcher"),
    ],
)
def test_how_many_machines(tmp_path: Path, code: str, is_one: bool, are_several: bool) -> None:
    project, script = parsed(tmp_path, code)
    assert (project.machines.is_one(script), project.machines.are_several(script)) == (is_one, are_several)


@pytest.mark.parametrize(
    ("code", "uses"),
    [
        pytest.param("dist.init_process_group('nccl', rank=r, world_size=w)", ["GROUP r w"], id="a process group"),
        pytest.param("dist.init_process_group('nccl', rank=r)", ["GROUP r -"], id="a size that is left out"),
        pytest.param("dist.init_process_group('nccl', rank=r, **more)", [], id="a size that is hidden"),
        pytest.param("dist.init_process_group('nccl')", [], id="a rank that is left out"),
        pytest.param("x[r::w]", ["SLICE r w"], id="every n-th item"),
        pytest.param("x[r:9:w]", [], id="a part of the items"),
    ],
)
def test_ranks_that_are_given(tmp_path: Path, code: str, uses: list[str]) -> None:
    project, script = parsed(tmp_path, code)
    found = project.rank_uses.of(script)
    sizes = [(use, "-" if use.world_size is None else written(use.world_size)) for use in found]
    assert [f"{use.purpose.name} {written(use.rank)} {size}" for use, size in sizes] == uses


@pytest.mark.parametrize(
    ("number", "counts"),
    [
        pytest.param("args.nodes * gpus", True, id="a product with the number of machines"),
        pytest.param("args.gpus * 2", False, id="another product"),
        pytest.param("args.nodes", False, id="the number of machines itself"),
    ],
)
def test_multiples_of_the_number_of_machines(tmp_path: Path, number: str, counts: bool) -> None:
    project, script = parsed(tmp_path, f"print({number})")
    assert project.machines.counts(script.calls[-1].arguments[0].value) is counts


@pytest.mark.parametrize(
    ("code", "are_asked_for"),
    [
        pytest.param("if args.num_nodes > 1:\n    print()", True, id="their number"),
        pytest.param("if os.environ.get('SLURM_JOB_ID'):\n    print()", True, id="a variable of the launcher"),
        pytest.param("if 'RANK' in os.environ:\n    print()", True, id="whether such a variable is set"),
        pytest.param("if args.cuda:\n    print()", False, id="something else"),
        pytest.param("print()", False, id="nothing"),
    ],
)
def test_tests_that_ask_for_the_machines(tmp_path: Path, code: str, are_asked_for: bool) -> None:
    project, script = parsed(tmp_path, code)
    assert project.machines.are_asked_for(script.calls[-1]) is are_asked_for
