"""Answers about origins do not depend on what was asked before: what is found on the way is as good as the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Expression, Script
from ddplint.semantics.resolve import Origin

CASES = [
    pytest.param("x = 1\nfor i in n:\n    y = x\n    x = y\nuse(x, y)", id="two names that feed each other in a loop"),
    pytest.param("def f(x):\n    return g(x)\ndef g(x):\n    return f(x) or 1\nuse(f(1), g(2))", id="two functions"),
    pytest.param("def f(x):\n    use(x)\n    f(x)\nf(1)", id="a function that calls itself with its parameter"),
    pytest.param(
        "class T:\n    def __init__(self, a):\n        self.a = a\n        self.b = self.a\n"
        "    def run(self):\n        self.a = self.b\n        use(self.a, self.b)\nT(1).run()",
        id="two attributes that feed each other",
    ),
    pytest.param("".join(f"x{i} = x{i + 1}\n" for i in range(40)) + "x40 = 1\nuse(x0)", id="names bound too late"),
    pytest.param("x40 = 1\n" + "".join(f"x{i} = x{i + 1}\n" for i in range(39, -1, -1)) + "use(x0)", id="a long chain"),
]


@pytest.mark.parametrize("code", CASES)
def test_answers_do_not_depend_on_the_order_of_questions(code: str, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(code)
    alone = [_answer(path, number) for number in range(_count(path))]
    assert _answers(path, backwards=False)[-1] == alone[-1]
    assert _answers(path, backwards=True)[0] == alone[0]


def test_what_is_asked_first_is_answered_as_when_asked_last(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text("def f(x):\n    return g(x)\ndef g(x):\n    return f(x) or 1\nuse(f(1), g(2))")
    assert _answers(path, backwards=False) == _answers(path, backwards=True)


def _expressions(script: Script) -> list[Expression]:
    return [part for call in script.calls for part in call.walk()]


def _count(path: Path) -> int:
    script = Workspace().project(path).script(path)
    assert script is not None
    return len(_expressions(script))


def _answer(path: Path, number: int) -> set[str]:
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return {_shown(origin) for origin in project.origins(_expressions(script)[number])}


def _answers(path: Path, backwards: bool) -> list[set[str]]:
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    expressions = _expressions(script)
    order = reversed(range(len(expressions))) if backwards else range(len(expressions))
    answers = {number: {_shown(origin) for origin in project.origins(expressions[number])} for number in order}
    return [answers[number] for number in range(len(expressions))]


def _shown(origin: Origin) -> str:
    if isinstance(origin, Expression):
        return f"{type(origin).__name__} {origin.order}"
    return f"{type(origin).__name__} {getattr(origin, 'name', '')}"
