"""Loops that count epochs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

CASES = [
    pytest.param("for e in range(9):", ("e", "d"), id="a range"),
    pytest.param("for e in tqdm(range(1, n)):", ("e", "d"), id="a range in a bar"),
    pytest.param("for e in trange(9):", ("e", "d"), id="a range that is a bar"),
    pytest.param("for _ in range(9):", (None, "d"), id="a count that nobody is to read"),
    pytest.param("for e in schedule:", (None, "d"), id="something else than a range"),
    pytest.param("while go():", (None, None), id="a while loop"),
]


@pytest.mark.parametrize(("header", "known"), CASES)
def test_what_a_loop_counts_and_names(tmp_path: Path, header: str, known: tuple[str | None, str | None]) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"from tqdm import tqdm, trange\nd = made()\n{header}\n    for b in d:\n        use(b)\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    (made,) = (call for call in script.calls if getattr(call.callee, "id", "") == "made")
    (repeat,) = project.passes.repeats(project.trail(made))
    assert (project.epochs.counter(repeat.loop), project.epochs.known_as(made, repeat)) == known


def test_a_name_that_is_something_else_by_then_is_none(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("d = made()\nif c:\n    d = other()\nfor e in range(9):\n    for b in d:\n        use(b)\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    made = script.calls[0]
    (repeat,) = project.passes.repeats(project.trail(made))
    assert project.epochs.known_as(made, repeat) is None
