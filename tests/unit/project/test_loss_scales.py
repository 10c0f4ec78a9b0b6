"""Clips of gradients that still carry the scale of the loss, and the line that mends them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = """import torch
from torch.nn.utils import clip_grad_norm_

scaler = torch.amp.GradScaler("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
BACKWARD, CLIP = "scaler.scale(loss).backward()\n", "clip_grad_norm_(model.parameters(), 1.0)\n"
STEP = "scaler.step(optimizer)\nscaler.update()\n"
UNSCALE = "scaler.unscale_(optimizer)"

CASES = [
    pytest.param(BACKWARD + CLIP + STEP, [UNSCALE], id="one after the other"),
    pytest.param(BACKWARD + UNSCALE + "\n" + CLIP + STEP, [], id="unscaled before"),
    pytest.param(CLIP + BACKWARD + STEP, [], id="clipped before the backward pass"),
    pytest.param(BACKWARD + STEP + CLIP, [], id="clipped after the step"),
    pytest.param(BACKWARD + CLIP + "scaler.step(optimizer)\n", [None], id="never updated"),
    pytest.param(BACKWARD + CLIP + CLIP + STEP, [None, None], id="clipped twice"),
    pytest.param(BACKWARD + "other.backward()\n" + CLIP + STEP, [], id="another loss beside it"),
    pytest.param(
        "loss = scaler.scale(loss)\nloss.backward()\n" + CLIP + "schedule.step(3)\n" + STEP,
        [UNSCALE],
        id="scaled under its own name",
    ),
    pytest.param(BACKWARD + CLIP + "optimizer = other\n" + STEP, [None], id="another optimizer by then"),
    pytest.param("try:\n    " + BACKWARD + "    " + CLIP + "finally:\n    pass\n" + STEP, [None], id="may be left"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_clips_of_scaled_gradients(code: str, expected: list[str | None], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{code}")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert [found.unscale for found in project.loss_scales.clips(script)] == expected
