"""Sums that are reduced again in each round, and means of means."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

HEAD = "import torch\nimport torch.distributed as dist\nr, n = dist.get_rank(), dist.get_world_size()\n"
METER = (
    "class M:\n    def __init__(self): self.t = 0\n    def add(self, x): self.t += x\n"
    "    def clear(self): self.t = 0\n    def sync(self): dist.all_reduce(self.t)\n"
)


def _project(tmp_path: Path, text: str) -> tuple[Project, Script]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("for x in xs:\n    t += x\n    dist.all_reduce(t)\n", 1, id="added to and reduced"),
        pytest.param("for x in xs:\n    t = t + x\n    dist.all_reduce(t)\n", 1, id="added to in the long form"),
        pytest.param(f"{METER}m = M()\nfor x in xs:\n    m.add(x)\n    m.sync()\n", 1, id="kept by an object"),
        pytest.param(
            "for x in xs:\n    t += x\n    if args.distributed: dist.all_reduce(t)\n",
            1,
            id="reduced by several processes",
        ),
        pytest.param("for x in xs:\n    t += x\ndist.all_reduce(t)\n", 0, id="reduced after the loop"),
        pytest.param("for x in xs:\n    t = 0\n    t += x\n    dist.all_reduce(t)\n", 0, id="set anew in each round"),
        pytest.param("for x in xs:\n    t += x\n    dist.all_reduce(t)\n    t.zero_()\n", 0, id="cleared"),
        pytest.param(
            "for x in xs:\n    t += x\n    dist.all_reduce(t)\n    t /= n\n", 0, id="made a mean in each round"
        ),
        pytest.param("for x in xs:\n    t += x\n    if x: dist.all_reduce(t)\n", 0, id="reduced in some rounds"),
        pytest.param("for x in xs:\n    t += x\n    dist.all_reduce(t, op=dist.ReduceOp.MAX)\n", 0, id="the largest"),
        pytest.param(f"{METER}m = M()\nfor x in xs: m.add(x)\nm.sync()\n", 0, id="an object reduced once"),
        pytest.param(f"{METER}for x in xs:\n    m = M()\n    m.add(x)\n    m.sync()\n", 0, id="an object a round"),
        pytest.param(
            f"{METER}m = M()\nfor x in xs:\n    m.clear()\n    m.add(x)\n    m.sync()\n", 0, id="an object set anew"
        ),
    ],
)
def test_running_sums_that_are_reduced_in_each_round(tmp_path: Path, text: str, expected: int) -> None:
    project, script = _project(tmp_path, text)
    assert len(list(project.averages.repeated(script))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("mine = xs[r::n]\nm = s / len(mine)\ndist.all_reduce(m)\nm = m / n\n", [False], id="of a share"),
        pytest.param("m = s / mask.sum()\ndist.all_reduce(m)\nm = m / n\n", [True], id="of the entries of a mask"),
        pytest.param("mine = xs[r::n]\nm = s / len(mine)\ndist.all_reduce(m)\n", [], id="nobody makes a mean of it"),
        pytest.param("m = s / len(xs)\ndist.all_reduce(m)\nm = m / n\n", [], id="equally many, as far as known"),
        pytest.param(
            "c = mask.sum()\ndist.all_reduce(c)\nm = s / c\ndist.all_reduce(m)\nm = m / n\n",
            [],
            id="the count is reduced",
        ),
    ],
)
def test_means_that_are_averaged(tmp_path: Path, text: str, expected: list[bool]) -> None:
    project, script = _project(tmp_path, text)
    assert [mean.doubtful for mean in project.averages.of_means(script)] == expected
