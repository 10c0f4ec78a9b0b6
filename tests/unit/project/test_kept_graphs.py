"""Losses that are gathered with their graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

LOOP = "total = 0\nlosses = []\nfor x in loader:\n    loss = model(x)\n    loss.backward()\n    opt.step()\n"
KEPT = [
    pytest.param(LOOP + "    total += loss\n", id="added to a number"),
    pytest.param(LOOP + "    total = total + loss / 2\n", id="a part of it, in a sum that is written out"),
    pytest.param(LOOP + "    total = loss + total\n", id="in front"),
    pytest.param(LOOP + "    losses.append(loss)\n", id="appended to a list"),
    pytest.param(
        "import torch\n" + LOOP.replace("0", "torch.zeros(1)") + "    total += loss\n", id="added to a tensor"
    ),
    pytest.param(LOOP.replace("total = 0", "total = {'a': 0}") + "    total['a'] += loss\n", id="added to an item"),
    pytest.param(LOOP.replace("loss.backward", "scaler.scale(loss / 2).backward") + "    total += loss\n", id="scaled"),
    pytest.param(LOOP.replace("loss.backward()", "engine.backward(loss)") + "    total += loss\n", id="by an engine"),
    pytest.param(
        "def back(lost):\n    lost.backward()\n"
        + LOOP.replace("loss.backward()", "back(loss)")
        + "    total += loss\n",
        id="in a helper",
    ),
    pytest.param("for e in range(3):\n    " + LOOP.replace("\n", "\n    ") + "    total += loss\n", id="in each epoch"),
]
NOT_KEPT = [
    pytest.param(LOOP + "    total += loss.item()\n", id="a number"),
    pytest.param(LOOP + "    total += loss.detach()\n", id="a value"),
    pytest.param(LOOP + "    total += float(loss)\n", id="made a number"),
    pytest.param(LOOP + "    loss = loss.item()\n    total += loss\n", id="under its own name"),
    pytest.param(LOOP + "    total += other\n", id="another value"),
    pytest.param(LOOP + "    total += loss\n    total.backward()\n", id="a sum with a gradient"),
    pytest.param(LOOP + "    total = 0\n    total += loss\n", id="a sum of each round"),
    pytest.param(LOOP + "    total += loss\n    if x:\n        total = 0\n", id="a sum of some rounds"),
    pytest.param(LOOP + "    losses.append(loss)\n    losses.clear()\n", id="a list that is emptied"),
    pytest.param(LOOP.replace("[]", "deque(maxlen=9)") + "    losses.append(loss)\n", id="a queue"),
    pytest.param(
        LOOP.replace("backward()", "backward(retain_graph=True)") + "    total += loss\n", id="kept on purpose"
    ),
    pytest.param(LOOP.replace("    loss.backward()\n", "") + "    total += loss\n", id="without a backward pass"),
    pytest.param(
        LOOP.replace("    loss.b", "    if x:\n        loss.b") + "    total += loss\n", id="not always a tensor"
    ),
]


def kept(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    path = tmp_path / "train.py"
    path.write_text(text)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    return [(found.loss.id, found.gatherer.id) for found in project.kept_graphs.of(script)]


@pytest.mark.parametrize("text", KEPT)
def test_the_graph_is_kept(tmp_path: Path, text: str) -> None:
    assert [loss for loss, _ in kept(tmp_path, text)] == ["loss"]


@pytest.mark.parametrize("text", NOT_KEPT)
def test_no_graph_is_kept(tmp_path: Path, text: str) -> None:
    assert kept(tmp_path, text) == []
