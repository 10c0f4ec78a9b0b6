"""The page of questions: its examples run, and no question is missing."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import ddplint.rulekit
from ddplint.project import Project, Workspace
from ddplint.semantics import Call
from ddplint.semantics.expressions import last_name

PAGE = (Path(__file__).parents[2] / "docs" / "questions.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```python script\n(.*?)^```\n+```python asks\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(match[1], match[2], id=f"line {PAGE.count(chr(10), 0, match.start()) + 1}")
    for match in EXAMPLE.finditer(PAGE)
]
QUOTED = re.compile(r"`([^`]+)`")
# Every word that the page sets as code, outside its examples.
WORDS = frozenset(
    word
    for quoted in QUOTED.findall(re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    for word in re.findall(r"\w+", quoted)
)
BELOW = PAGE[PAGE.index("## What stands below") :]


@pytest.mark.parametrize(("text", "questions"), EXAMPLES)
def test_an_example_is_true(text: str, questions: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None

    def one(name: str) -> Call:
        [call] = [call for call in script.calls if last_name(call.callee) == name]
        return call

    face = {name: getattr(ddplint.rulekit, name) for name in ddplint.rulekit.__all__}
    assert "assert " in questions
    exec(compile(questions, str(path), "exec"), {**face, "script": script, "project": project, "one": one})


def test_each_name_of_the_rulekit_is_on_the_page() -> None:
    assert set(ddplint.rulekit.__all__) - WORDS == set()


def test_each_question_of_a_project_is_on_the_page(tmp_path: Path) -> None:
    own = {name for name in vars(Project) if not name.startswith("_")}
    parts = {name: part for name, part in vars(Project(tmp_path)).items() if not name.startswith("_")}
    assert (own | parts.keys()) - WORDS == set()
    # The questions of a part are listed, but for those that the page leaves to whoever adds one.
    asked = {name: part for name, part in parts.items() if f"`project.{name}`" not in BELOW and name != "resolver"}
    missing = {
        f"{name}.{method}"
        for name, part in asked.items()
        for method, _ in inspect.getmembers(type(part), inspect.isfunction)
        if not method.startswith("_") and method not in WORDS
    }
    assert missing == set()
