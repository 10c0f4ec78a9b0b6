"""Numbers that certainly are computed from the rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
import torch.distributed as dist

rank = dist.get_rank()
"""
CASES = [
    pytest.param("use(8 + rank)", True, id="a sum"),
    pytest.param("use(len(shards[rank]))", True, id="the length of what the rank picks"),
    pytest.param("n = 2 ** dist.get_rank()\nuse(n)", True, id="under a name"),
    pytest.param("use(8)", False, id="a constant"),
    pytest.param("use(dist.get_world_size() * 2)", False, id="the number of processes"),
    pytest.param("use(model.to(rank))", False, id="an object that is moved there"),
    pytest.param("use(len(files))", False, id="the length of something else"),
    pytest.param("n = torch.tensor(rank)\ndist.all_reduce(n)\nuse(int(n))", False, id="reduced over the ranks"),
]


@pytest.mark.parametrize(("code", "computed"), CASES)
def test_numbers_that_are_computed_from_the_rank(tmp_path: Path, code: str, computed: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    [use] = [call for call in script.calls if getattr(call.callee, "id", "") == "use"]
    assert project.rank_parts.computes(use.arguments[0].value) is computed
