"""What a function does itself, and through the helpers of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.acts import Act
from ddplint.semantics.expressions import last_name
from ddplint.semantics.shown import written

TEXT = """
def clear(what):
    if what:
        what.zero_grad()


def finish(thing):
    thing.step()
    clear(thing)


def train(optimizer, loader):
    for x in loader:
        if x:
            finish(optimizer)
        else:
            optimizer.skip()
        x.backward()
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "train.py").write_text(TEXT)
    return Workspace().project(tmp_path / "train.py")


@pytest.fixture
def acts(project: Project, tmp_path: Path) -> dict[str, Act]:
    script = project.script(tmp_path / "train.py")
    assert script is not None
    train = next(function for function in script.functions if function.name == "train")
    return {last_name(act.call): act for act in project.acts.of(train, script)}


def test_helpers_are_looked_into_in_order(acts: dict[str, Act]) -> None:
    assert list(acts) == ["finish", "step", "clear", "zero_grad", "skip", "backward"]
    assert acts["zero_grad"].place is acts["finish"].call
    assert len(acts["zero_grad"].loops) == 1


def test_conditions_add_up(acts: dict[str, Act]) -> None:
    assert acts["step"].excludes(acts["skip"])
    assert not acts["step"].excludes(acts["backward"])
    assert acts["step"].runs_whenever(acts["zero_grad"])
    assert not acts["zero_grad"].runs_whenever(acts["step"])


def test_what_a_helper_is_given(acts: dict[str, Act], project: Project) -> None:
    receiver = acts["zero_grad"].call.callee.children[0]
    assert written(project.acts.outside(acts["zero_grad"], receiver)) == "optimizer"
    assert project.acts.same(receiver, acts["step"].call.callee.children[0])
    assert not project.acts.same(receiver, acts["backward"].call.callee.children[0])
