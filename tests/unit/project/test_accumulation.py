"""Loops in which an optimizer steps only every so many backward passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.shown import written

HEAD = """import torch
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
for i, (x, y) in enumerate(loader):
"""
BACKWARD = "    loss = f(model(x), y)\n    loss.backward()\n"

CASES = [
    pytest.param(BACKWARD + "    if (i + 1) % k == 0:\n        optimizer.step()", ["k"], id="every k rounds"),
    pytest.param(BACKWARD + "    if not (i + 1) % k:\n        optimizer.step()", ["k"], id="nothing remains"),
    pytest.param(BACKWARD + "    if i % k == k - 1:\n        optimizer.step()", ["k"], id="the last of k"),
    pytest.param(BACKWARD + "    if i % 4 == 3 or i == n:\n        optimizer.step()", ["4"], id="or the last one"),
    pytest.param(BACKWARD + "    if i % k != 0:\n        continue\n    optimizer.step()", ["k"], id="skipped rounds"),
    pytest.param(BACKWARD + "    if i % k:\n        pass\n    else:\n        optimizer.step()", ["k"], id="otherwise"),
    pytest.param(BACKWARD + "    if i % k:\n        optimizer.step()", [], id="all rounds but one"),
    pytest.param(BACKWARD + "    if i % k != 0:\n        optimizer.step()", [], id="all rounds but one, compared"),
    pytest.param(BACKWARD + "    if i % 1 == 0:\n        optimizer.step()", [], id="every round"),
    pytest.param(BACKWARD + "    optimizer.step()", [], id="no test"),
    pytest.param(BACKWARD + "    if i % k == 0:\n        schedule.step()", [], id="no optimizer"),
    pytest.param(
        BACKWARD + "    if i % k == 0:\n        other.backward()\n        optimizer.step()", [], id="a loss of its own"
    ),
    pytest.param("    if i % k == 0:\n        optimizer.step()\n" + BACKWARD, [], id="no backward pass before"),
    pytest.param(BACKWARD + "if i % k == 0:\n    optimizer.step()", [], id="after the loop"),
]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_accumulations(code: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{code}\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert [written(found.count) for found in project.accumulations.of(script)] == expected


NORMALISED = [
    pytest.param("", "", False, id="as it is"),
    pytest.param("    loss = loss / k\n", "", True, id="divided by the count"),
    pytest.param("    loss = loss / tokens\n", "", True, id="divided by something else"),
    pytest.param("    loss = loss / 255\n", "", False, id="divided by a number"),
    pytest.param("    loss = loss.sum()\n", "", True, id="a sum"),
    pytest.param("    loss = weigh(loss, k)\n", "", True, id="the count is handed on"),
    pytest.param("", "        optimizer.param_groups[0]['lr'] = 0.1 / k\n", True, id="another rate"),
    pytest.param("", "        print(8 * k)\n", False, id="the count is used elsewhere"),
]


@pytest.mark.parametrize(("before", "after", "expected"), NORMALISED)
def test_what_may_make_up_for_the_count(before: str, after: str, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    backward = f"    loss = f(model(x), y)\n{before}    loss.backward()\n"
    path.write_text(f"{HEAD}{backward}    if i % k == 0:\n{after}        optimizer.step()\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    [found] = project.accumulations.of(script)
    assert project.accumulations.may_be_normalised(found) is expected
    assert [written(call.callee) for call in project.accumulations.forwards(found)] == ["model"]
