"""How often data is run over, and what for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.passes import Purpose
from ddplint.project.trail import Trail


def _trail(tmp_path: Path, code: str) -> tuple[Project, Trail]:
    (tmp_path / "setup.py").touch()
    path = tmp_path / "train.py"
    path.write_text(code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    start = next(call for call in script.calls if getattr(call.callee, "id", "") == "made")
    return project, project.trail(start)


REPEATED = [
    pytest.param("d = made()\nfor e in range(9):\n    for b in d:\n        use(b)", True, id="a loop in a loop"),
    pytest.param("d = made()\nfor b in d:\n    use(b)", False, id="a single pass"),
    pytest.param(
        "for e in range(9):\n    d = made()\n    for b in d:\n        use(b)", False, id="made anew every time"
    ),
    pytest.param("d = made()\nfor e in range(1):\n    for b in d:\n        use(b)", False, id="a loop of one round"),
    pytest.param("d = made()\nfor e in (1, 2):\n    for b in d:\n        use(b)", False, id="a loop over a display"),
    pytest.param("d = made()\nwhile go():\n    for b in d:\n        use(b)", True, id="a loop in a while loop"),
    pytest.param("d = made()\nfor e in range(9):\n    [use(b) for b in d]", True, id="a comprehension in a loop"),
    pytest.param("d = made()\nfor e in range(9):\n    for i, b in enumerate(d):\n        use(b)", True, id="enumerate"),
    pytest.param("d = iter(made())\nfor e in range(9):\n    use(next(d))", False, id="one iterator for all rounds"),
    pytest.param(
        "d = made()\ni = iter(d)\nfor e in range(9):\n    try:\n        b = next(i)\n    except StopIteration:\n"
        "        i = iter(d)",
        True,
        id="an iterator that is made again",
    ),
    pytest.param(
        "def epoch(d):\n    for b in d:\n        use(b)\nx = made()\nfor e in range(9):\n    epoch(x)",
        True,
        id="a function that is called in a loop",
    ),
    pytest.param(
        "def epoch(d):\n    for b in d:\n        use(b)\nx, y = made(), 1\nfor e in range(9):\n    epoch(y)\nepoch(x)",
        False,
        id="a function that is called in a loop with something else",
    ),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.d = made()\n    def fit(self):\n        for e in range(9):\n"
        "            self.epoch()\n    def epoch(self):\n        for b in self.d:\n            use(b)\nT().fit()",
        True,
        id="a method that another method calls in a loop",
    ),
    pytest.param(
        "def endless(d):\n    while True:\n        for b in d:\n            yield b\nx = endless(made())",
        True,
        id="an endless generator",
    ),
    pytest.param(
        "def fit():\n    d = made()\n    for b in d:\n        use(b)\nfor e in range(9):\n    fit()",
        False,
        id="a function that makes and uses it, called in a loop",
    ),
]


@pytest.mark.parametrize(("code", "repeated"), REPEATED)
def test_whether_data_is_run_over_again(tmp_path: Path, code: str, repeated: bool) -> None:
    project, trail = _trail(tmp_path, code)
    assert trail.passes
    assert bool(list(project.passes.repeats(trail))) is repeated


def test_a_repeat_knows_its_loop_and_the_way_into_it(tmp_path: Path) -> None:
    code = "def epoch(d):\n    for b in d:\n        use(b)\nx = made()\nfor e in range(9):\n    epoch(x)"
    project, trail = _trail(tmp_path, code)
    (repeat,) = project.passes.repeats(trail)
    assert getattr(repeat.inside, "callee", None) is not None
    assert repeat.loop in repeat.inside.region.loops
    assert repeat.begun in trail.passes


PURPOSES = [
    pytest.param("d = made()\nfor b in d:\n    loss(b).backward()", Purpose.TRAINING, id="a backward pass in its loop"),
    pytest.param(
        "def step(b):\n    loss(b).backward()\nd = made()\nfor b in d:\n    step(b)",
        Purpose.TRAINING,
        id="a backward pass in a function that its loop calls",
    ),
    pytest.param(
        "d = iter(made())\nfor i in range(9):\n    loss(next(d)).backward()", Purpose.TRAINING, id="taken one by one"
    ),
    pytest.param(
        "def endless(d):\n    while True:\n        yield from d\nfor b in endless(made()):\n    loss(b).backward()",
        Purpose.TRAINING,
        id="through a generator",
    ),
    pytest.param(
        "def run(d, train):\n    for b in d:\n        if train:\n            loss(b).backward()\nval_loader = made()\n"
        "run(val_loader, False)",
        Purpose.EVALUATION,
        id="a loop for both purposes that is given validation data",
    ),
    pytest.param("test_loader = made()", Purpose.EVALUATION, id="a name that says so"),
    pytest.param("train_loader = made()", Purpose.UNKNOWN, id="a name alone makes no training"),
    pytest.param(
        "import torch\nd = made()\nwith torch.no_grad():\n    for b in d:\n        use(b)",
        Purpose.EVALUATION,
        id="without gradients",
    ),
    pytest.param("d = made()\nfor b in d:\n    use(b)", Purpose.UNKNOWN, id="a loop that does something unknown"),
]


@pytest.mark.parametrize(("code", "purpose"), PURPOSES)
def test_what_data_is_for(tmp_path: Path, code: str, purpose: Purpose) -> None:
    project, trail = _trail(tmp_path, code)
    assert project.passes.purpose(trail) is purpose
