"""Schedules that move on before their optimizers step."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
scaler = torch.amp.GradScaler()


def one_epoch(optimizer):
    optimizer.step()


for epoch in range(90):
"""

CASES = [
    pytest.param("    schedule.step()\n    optimizer.step()", [True], id="in one body"),
    pytest.param("    schedule.step()\n    scaler.step(optimizer)", [True], id="through a scaler"),
    pytest.param("    schedule.step()\n    for x in y:\n        optimizer.step()", [False], id="in an inner loop"),
    pytest.param("    schedule.step()\n    one_epoch(optimizer)", [False], id="in a function"),
    pytest.param("    optimizer.step()\n    schedule.step()", [], id="after the optimizer"),
    pytest.param("    optimizer.step()\n    schedule.step()\n    optimizer.step()", [], id="between two steps"),
    pytest.param("    schedule.step(epoch)\n    optimizer.step()", [], id="the epoch is named"),
    pytest.param("    if epoch:\n        schedule.step()\n    optimizer.step()", [], id="not in every round"),
    pytest.param("    schedule.step()\noptimizer.step()", [], id="the optimizer steps elsewhere"),
    pytest.param("    schedule.step()\n    torch.optim.SGD(x).step()", [], id="another optimizer"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_early_schedules(code: str, expected: list[bool], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert [early.beside for early in project.optimizer_steps.early(script)] == expected
