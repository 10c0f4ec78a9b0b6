"""Seeds that have to be equal on all ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.seeds import Spread
from ddplint.semantics import Script

IMPORTS = "import os, random, time\nimport numpy as np\nimport torch\nimport torch.distributed as dist\n"


def _understood(tmp_path: Path, code: str) -> tuple[Project, Script]:
    (tmp_path / "setup.py").touch()
    path = tmp_path / "train.py"
    path.write_text(IMPORTS + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


SEEDS = [
    pytest.param("use(3)", None, id="a number"),
    pytest.param("use(args.seed)", None, id="an option"),
    pytest.param("use(args.seed + args.epoch)", None, id="options"),
    pytest.param("use(dist.get_world_size())", None, id="the world size"),
    pytest.param("use(args.seed + dist.get_rank())", Spread.RANK, id="the rank"),
    pytest.param("use(args.seed + args.local_rank)", Spread.RANK, id="an option named rank"),
    pytest.param("use(int(os.environ['RANK']) * 1000)", Spread.RANK, id="the environment"),
    pytest.param("args.seed += dist.get_rank()\nuse(args.seed)", Spread.RANK, id="an option that was changed"),
    pytest.param("use(args.seed)\nargs.seed += dist.get_rank()", None, id="an option that is changed later"),
    pytest.param("use(int(time.time()))", Spread.CLOCK, id="the clock"),
    pytest.param("use(os.getpid())", Spread.CLOCK, id="the process"),
    pytest.param("use(random.randint(0, 9))", Spread.CHANCE, id="drawn without a seed"),
    pytest.param("random.seed(1)\nuse(random.randint(0, 9))", None, id="drawn with a seed"),
    pytest.param(
        "n = torch.tensor(dist.get_rank())\ndist.all_reduce(n)\nuse(int(n))", None, id="reduced over the ranks"
    ),
    pytest.param("s = torch.tensor(time.time())\ndist.broadcast(s, 0)\nuse(s.item())", None, id="broadcast"),
    pytest.param(
        "def agreed():\n    a = [None]\n    dist.all_gather_object(a, time.time())\n    return a[0]\nuse(agreed())",
        None,
        id="from a function in which the ranks agree",
    ),
]


@pytest.mark.parametrize(("code", "spread"), SEEDS)
def test_why_a_seed_differs(tmp_path: Path, code: str, spread: Spread | None) -> None:
    project, script = _understood(tmp_path, code)
    (call,) = (call for call in script.calls if getattr(call.callee, "id", "") == "use")
    assert project.seeds.spread(call.arguments[0].value) is spread


SHARES = [
    pytest.param("g = torch.Generator()\ng.manual_seed(7)\np = torch.randperm(9, generator=g)", 1, id="seeded beside"),
    pytest.param("p = torch.randperm(9, generator=torch.Generator().manual_seed(7))", 1, id="seeded in a chain"),
    pytest.param("p = np.random.RandomState(7).permutation(9)", 1, id="numpy's old generator"),
    pytest.param("p = np.random.default_rng(7).permutation(9)", 1, id="numpy's new generator"),
    pytest.param("p = torch.randperm(9)", 0, id="no generator of its own"),
    pytest.param("p = list(range(9))", 0, id="no random order"),
]


@pytest.mark.parametrize(("code", "count"), SHARES)
def test_the_seeds_of_shares(tmp_path: Path, code: str, count: int) -> None:
    project, script = _understood(tmp_path, f"{code}\nx = p[dist.get_rank()::dist.get_world_size()]\ny = p[1::2]")
    found = list(project.seeds.of_shards(script))
    assert len(found) == count
    assert all(project.constants(seed) == frozenset([7]) for _, seed in found)
