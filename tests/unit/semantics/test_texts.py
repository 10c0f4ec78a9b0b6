"""The text that an expression makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddplint.project import Project, Workspace
from ddplint.semantics.parse import parse
from ddplint.semantics.texts import HOLE, Texts
from ddplint.source import SourceFile

CASES = [
    pytest.param("use('a')", "a", id="a literal"),
    pytest.param("use('a' 'b')", "ab", id="literals side by side"),
    pytest.param("use(7)", "7", id="a number"),
    pytest.param("p = 7\nuse(f'a:{p}')", "a:7", id="an f-string with a variable"),
    pytest.param("use(f'a:{p}')", f"a:{HOLE}", id="an f-string with something unknown"),
    pytest.param("p = 7\nuse(f'a:{p:05d}')", "a:7", id="a format of a number is not carried out"),
    pytest.param("use('a:' + str(7))", "a:7", id="a sum"),
    pytest.param("use('a:' + host)", f"a:{HOLE}", id="a sum with something unknown"),
    pytest.param("use('%s:%d' % ('a', 7))", "a:7", id="percent with a tuple"),
    pytest.param("use('a:%d' % 7)", "a:7", id="percent with one value"),
    pytest.param("use('a:%(p)d' % values)", f"a:{HOLE}", id="percent with a mapping"),
    pytest.param("use('{}:{}'.format('a', 7))", "a:7", id="format with places"),
    pytest.param("use('{h}:{p}'.format(h='a', p=7))", "a:7", id="format with names"),
    pytest.param("use('{h}:{p}'.format(h=host, **more))", f"{HOLE}:{HOLE}", id="format with something unknown"),
    pytest.param("use('{0.name}:{1[0]}'.format(a, b))", f"{HOLE}:{HOLE}", id="format that looks into a value"),
    pytest.param("use('{'.format(1))", HOLE, id="a broken template"),
    pytest.param("t = '{}:7'\nuse(t.format('a'))", "a:7", id="a template in a variable"),
    pytest.param("use(make())", HOLE, id="a call of something unknown"),
    pytest.param("p = 1 if t else 2\nuse(f'a:{p}')", f"a:{HOLE}", id="a piece that can be two things"),
    pytest.param("x = x + 'a'\nuse(x)", HOLE + "a", id="a text made from itself"),
]


@pytest.mark.parametrize(("code", "text"), CASES)
def test_a_text_is_read_off_the_code(code: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    (origin,) = project.origins(script.calls[-1].arguments[0].value)
    assert Texts(project.resolver).of(origin) == text


@given(st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=5), min_size=1, max_size=4))
def test_a_text_without_holes_is_what_python_makes_of_it(pieces: list[str]) -> None:
    code = " + ".join(map(repr, pieces))
    script = parse(SourceFile("text.py", f"use({code})\n"))
    assert Texts(Project(Path("nowhere")).resolver).of(script.calls[-1].arguments[0].value) == "".join(pieces)
