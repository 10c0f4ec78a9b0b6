"""Loops of training steps, and what every round of them does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Name

EVERY_STEP = [
    pytest.param("for x in loader:\n    model(x).backward()\n    here()\n", id="beside the backward pass"),
    pytest.param("while True:\n    here()\n    scaler.scale(loss).backward()\n", id="in a while loop"),
    pytest.param(
        "for epoch in range(3):\n    for x in loader:\n        loss.backward()\n        here()\n",
        id="in the inner loop",
    ),
    pytest.param(
        "def step(x):\n    loss.backward()\n    here()\nfor x in loader:\n    step(x)\n",
        id="in a function for one step",
    ),
    pytest.param(
        "def step(x):\n    loss.backward()\nfor x in loader:\n    step(x)\n    here()\n",
        id="beside the call of such a function",
    ),
    pytest.param(
        "def clean():\n    here()\nfor x in loader:\n    loss.backward()\n    clean()\n",
        id="in a helper that each step calls",
    ),
    pytest.param(
        "class T:\n    def step(self, x):\n        loss.backward()\n    def run(self):\n        for x in loader:\n"
        "            self.step(x)\n            here()\nT().run()\n",
        id="beside a method for one step",
    ),
    pytest.param(
        "for x in loader:\n    if amp:\n        loss.backward()\n        here()\n",
        id="under the test of the step itself",
    ),
    pytest.param(
        "for x in loader:\n    if x is None:\n        continue\n    loss.backward()\n    here()\n",
        id="where no batch is left out",
    ),
    pytest.param("for x in loader:\n    loss.backward()\n    for p in model:\n        here()\n", id="in a loop inside"),
]
SELDOM = [
    pytest.param(
        "for i, x in enumerate(loader):\n    loss.backward()\n    if i % 100 == 0:\n        here()\n",
        id="every hundredth step",
    ),
    pytest.param(
        "for i, x in enumerate(loader):\n    loss.backward()\n    if i % 100:\n        continue\n    here()\n",
        id="what other steps leave out",
    ),
    pytest.param(
        "for epoch in range(3):\n    for x in loader:\n        loss.backward()\n    here()\n", id="once an epoch"
    ),
    pytest.param(
        "def train():\n    for x in loader:\n        loss.backward()\nfor _ in range(3):\n    train()\n    here()\n",
        id="once an epoch, beside the function of an epoch",
    ),
    pytest.param("for x in loader:\n    model(x)\n    here()\n", id="in an evaluation"),
    pytest.param(
        "for x in loader:\n    try:\n        loss.backward()\n    except RuntimeError:\n        here()\n",
        id="after an error",
    ),
    pytest.param(
        "def clean(i):\n    if i % 100 == 0:\n        here()\nfor i in range(9):\n    loss.backward()\n    clean(i)\n",
        id="in a helper with a test",
    ),
    pytest.param("loss.backward()\nhere()\n", id="outside loops"),
]


REPEATED = [
    *EVERY_STEP,
    pytest.param("for e in range(3):\n    for x in loader:\n        loss.backward()\n    here()\n", id="once an epoch"),
    pytest.param(
        "def train():\n    for x in loader:\n        loss.backward()\ndef check():\n    here()\n"
        "for epoch in range(3):\n    train()\n    check()\n",
        id="in a helper, once an epoch",
    ),
]
ONCE = [
    pytest.param("for ranks in parts:\n    here()\nfor x in loader:\n    loss.backward()\n", id="before the training"),
    pytest.param(
        "for e in range(3):\n    if group is None:\n        here()\n    for x in loader:\n        loss.backward()\n",
        id="where it is missing",
    ),
]


def has_loop(tmp_path: Path, text: str, *, repeats: bool = False) -> bool:
    path = tmp_path / "train.py"
    path.write_text(text)
    project = Workspace().project(path)
    script = project.script(path.resolve())
    assert script is not None
    [here] = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here"]
    steps = project.training_steps
    return (steps.repeats(here) if repeats else steps.loop_of(here)) is not None


@pytest.mark.parametrize("text", EVERY_STEP)
def test_every_step_comes_there(tmp_path: Path, text: str) -> None:
    assert has_loop(tmp_path, text)


@pytest.mark.parametrize("text", SELDOM)
def test_not_every_step_comes_there(tmp_path: Path, text: str) -> None:
    assert not has_loop(tmp_path, text)


@pytest.mark.parametrize("text", REPEATED)
def test_training_comes_there_again_and_again(tmp_path: Path, text: str) -> None:
    assert has_loop(tmp_path, text, repeats=True)


@pytest.mark.parametrize("text", ONCE)
def test_training_comes_there_once(tmp_path: Path, text: str) -> None:
    assert not has_loop(tmp_path, text, repeats=True)
