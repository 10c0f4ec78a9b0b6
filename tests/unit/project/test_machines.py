"""Programs that may be made for one machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("import torch.multiprocessing as mp\nmp.spawn(main, nprocs=4)", True, id="starts its processes"),
        pytest.param("start('tcp://localhost:1234')", True, id="meets at its own address"),
        pytest.param("import torch.distributed as dist\ndist.init_process_group('nccl')", False, id="says nothing"),
    ],
)
def test_one_machine(code: str, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert project.machines.may_be_one(script) is expected
