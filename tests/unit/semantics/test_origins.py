"""Where values come from: through names, attributes, containers, parameters and returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script
from ddplint.semantics.resolve import Imported, Origin, Part
from ddplint.semantics.structure import Class, Function, Parameter

CASES = [
    pytest.param("x = 1\nuse(x)", {"1"}, id="a name"),
    pytest.param("x = y = 1\nuse(y)", {"1"}, id="a chained assignment"),
    pytest.param("a, (b, c) = 1, (2, 3)\nuse(c)", {"3"}, id="an unpacked tuple"),
    pytest.param("a, *b, c = 1, 2, 3, 4\nuse(c)", {"4"}, id="the last of a starred unpacking"),
    pytest.param("x = 1 if t else 2\nuse(x)", {"1", "2"}, id="a conditional expression"),
    pytest.param("x = None\nif t:\n    x = 1\nuse(x)", {"None", "1"}, id="a branch that may be taken"),
    pytest.param("x = 1\nx = 2\nuse(x)", {"2"}, id="an overwritten value"),
    pytest.param("use(x := 1)\nuse(x)", {"1"}, id="a walrus"),
    pytest.param("with open('f') as x:\n    use(x)", {"open()"}, id="a with target"),
    pytest.param("for x in items():\n    use(x)", {"part of items()"}, id="a loop target"),
    pytest.param("x, y = pair()\nuse(y)", {"part of pair()"}, id="an unpacked call"),
    pytest.param("d = {'a': 1, 'b': 2}\nuse(d['b'])", {"2"}, id="an item of a dict display"),
    pytest.param("d = {}\nd['a'] = 1\nuse(d['a'])", {"1"}, id="an item put in later"),
    pytest.param("t = (1, 2)\nuse(t[1])", {"2"}, id="an item of a tuple"),
    pytest.param("args.lr = 1\nuse(args.lr)", {"1"}, id="an attribute set in sight"),
    pytest.param("def f():\n    return 1\nuse(f())", {"1"}, id="what a function returns"),
    pytest.param("def f():\n    return 1, 2\na, b = f()\nuse(b)", {"2"}, id="a part of what a function returns"),
    pytest.param("def f(x):\n    use(x)\nf(1)\nf(x=2)", {"1", "2"}, id="what callers give"),
    pytest.param("def f(x=3):\n    use(x)\nf()", {"3"}, id="a default that a caller leaves"),
    pytest.param("def f(x):\n    use(x)", {"parameter x"}, id="a parameter that nobody is seen to give"),
    pytest.param("def f(x):\n    use(x)\nf(1)\nrun(f)", {"1", "parameter x"}, id="a function that is also handed on"),
    pytest.param(
        "class T:\n    def __init__(self, s):\n        self.s = s\n    def run(self):\n        use(self.s)\nT(1).run()",
        {"1"},
        id="a constructor argument kept in an attribute",
    ),
    pytest.param(
        "class T:\n    def make(self):\n        return 1\n    def run(self):\n        use(self.make())",
        {"1"},
        id="what a method returns",
    ),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.s = 1\nt = T()\nuse(t.s)", {"1"}, id="an object's attribute"
    ),
    pytest.param(
        "args.lr = 1\ndef f():\n    use(args.lr)", {"1", "args.lr"}, id="an attribute that may be set in sight"
    ),
    pytest.param("class T:\n    size = 1\n    def run(self):\n        use(self.size)", {"1"}, id="a class attribute"),
    pytest.param("import torch\nuse(torch.float16)", {"torch.float16"}, id="something imported"),
    pytest.param("def f(): ...\nuse(f)", {"function f"}, id="a function"),
    pytest.param("def f(n):\n    return f(n)\nuse(f(1))", {"?"}, id="a function that only returns itself"),
    pytest.param("x = x\nuse(x)", {"?"}, id="a name that is nothing but itself"),
]


def _shown(origin: Origin) -> str:
    match origin:
        case Constant():
            return repr(origin.value)
        case Attribute():
            return f"{_shown(origin.base)}.{origin.name}"
        case Name():
            return origin.id
        case Call():
            return f"{origin.callee.id}()" if isinstance(origin.callee, Name) else "a call"
        case Part():
            return f"part of {_shown(origin.of)}"
        case Parameter():
            return f"parameter {origin.name}"
        case Imported():
            return origin.name
        case Function() | Class():
            return f"{type(origin).__name__.lower()} {origin.name}"
        case _:
            return "?"


def _last_use(script: Script) -> Expression:
    uses = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "use"]
    return uses[-1].arguments[0].value


@pytest.mark.parametrize(("code", "origins"), CASES)
def test_a_value_is_followed_back_to_what_made_it(code: str, origins: set[str], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert {_shown(origin) for origin in project.origins(_last_use(script))} == origins


def test_values_are_followed_through_the_files_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    (tmp_path / "data.py").write_text("def build(size):\n    return make(size), 2\n\nSEED = 7\n")
    (tmp_path / "loop.py").write_text("import data\n\ndef train(pair, seed):\n    use(pair[1])\n    use(seed)\n")
    (tmp_path / "train.py").write_text("import data\nfrom loop import train\ntrain(data.build(1), data.SEED)\n")
    path = tmp_path / "loop.py"
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    first, second = (call.arguments[0].value for call in script.calls)
    assert [_shown(origin) for origin in project.origins(first)] == ["2"]
    assert [_shown(origin) for origin in project.origins(second)] == ["7"]


def test_files_that_import_from_each_other_come_to_an_end(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    (tmp_path / "one.py").write_text("from two import thing\nfrom two import *\nuse(thing)\nuse(other)\n")
    (tmp_path / "two.py").write_text("from one import thing\nfrom one import *\n")
    path = tmp_path / "one.py"
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    first, second = (call.arguments[0].value for call in script.calls)
    assert {_shown(origin) for origin in project.origins(first)} == {"?"}
    assert project.names(second) == {"?"}
