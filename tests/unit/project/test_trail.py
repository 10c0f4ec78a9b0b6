"""Where a value goes: through names, containers, attributes, functions, loaders and loops, and where it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.trail import Trail

DATA = "from torch.utils.data import BatchSampler, DataLoader\n"


def _trail(tmp_path: Path, code: str, **others: str) -> tuple[Project, Trail]:
    """Follow what ``made()`` gives, in ``train.py`` beside other files."""
    (tmp_path / "setup.py").touch()
    for name, text in {"train": code, **others}.items():
        (tmp_path / f"{name}.py").write_text(text)
    path = tmp_path / "train.py"
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    start = next(call for call in script.calls if getattr(call.callee, "id", "") == "made")
    return project, project.trail(start)


SEEN = [
    pytest.param("x = made()\nx.seen", id="a name"),
    pytest.param("x = made() if a else None\nx.seen", id="a conditional value"),
    pytest.param("x = None or made()\nx.seen", id="an operand of or"),
    pytest.param("(x := made())\nx.seen", id="a walrus"),
    pytest.param("x = made()\nx and x.seen", id="a test before the use"),
    pytest.param("x, y = made(), 1\nx.seen\ny.other", id="a part of a tuple"),
    pytest.param("x = [1, made()]\nx[1].seen\nx[0].other", id="an item of a list"),
    pytest.param("x = {'a': made(), 'b': 1}\nx['a'].seen\nx['b'].other", id="an item of a dict"),
    pytest.param("x = dict(a=made())\nx['a'].seen", id="an item of a call of dict"),
    pytest.param("x = {'a': made()}\nx.get('a').seen\nx.get('b').other", id="a dict asked for a key"),
    pytest.param("x = {}\nx['a'] = made()\nx['a'].seen\nx['b'].other", id="an item put in later"),
    pytest.param("x = []\nx.append(made())\nx[0].seen", id="a list that takes it in"),
    pytest.param("x = []\nx += [made()]\nx[0].seen", id="a list that grows"),
    pytest.param("x = [*[made()], 1]\nx[0].seen", id="an unpacked list"),
    pytest.param("x = {**{'a': made()}}\nx['a'].seen", id="an unpacked dict"),
    pytest.param("x = {k: made() for k in names}\nx[k].seen", id="a comprehension"),
    pytest.param("for x in [made()]:\n    x.seen", id="a loop over a list"),
    pytest.param("for i, x in enumerate([made()]):\n    x.seen", id="a counted loop"),
    pytest.param("for k, x in {'a': made()}.items():\n    x.seen", id="a loop over a dict's items"),
    pytest.param("def f(x):\n    x.seen\nf(made())", id="an argument"),
    pytest.param("def f(**x):\n    x['a'].seen\nf(a=made())", id="an argument among others by keyword"),
    pytest.param("def f(*x):\n    x[0].seen\nf(made())", id="an argument among others by place"),
    pytest.param("def f(a, b):\n    b.seen\n    a.other\nf(*[1, made()])", id="a starred argument"),
    pytest.param("def f(a, b):\n    b.seen\n    a.other\nf(**{'a': 1, 'b': made()})", id="a double-starred argument"),
    pytest.param("def f():\n    return made()\nf().seen", id="what a function returns"),
    pytest.param("def f():\n    return 1, made()\na, b = f()\nb.seen\na.other", id="a part of what a function returns"),
    pytest.param("def f(x):\n    return x\nf(made()).seen\nf(1).other", id="in at one call and out of the same"),
    pytest.param("def f(x):\n    x['a'] = made()\ny = {}\nf(y)\ny['a'].seen", id="put into a container of the caller"),
    pytest.param("args = parse()\nargs.x = made()\nargs.x.seen", id="an attribute of an object"),
    pytest.param(
        "class T:\n    def __init__(self, x):\n        self.x = x\n    def run(self):\n        self.x.seen\nT(made())",
        id="an attribute that another method reads",
    ),
    pytest.param(
        "class A:\n    def __init__(self, x):\n        self.x = x\n"
        "class B(A):\n    def run(self):\n        self.x.seen\nB(made())",
        id="an attribute that a subclass reads",
    ),
    pytest.param(
        "class T:\n    def __init__(self):\n        self.x = made()\nt = T()\nt.x.seen",
        id="an attribute read from outside",
    ),
    pytest.param(
        "class T:\n    def __init__(self):\n        self._x = made()\n    @property\n    def x(self):\n"
        "        return self._x\nt = T()\nt.x.seen",
        id="a property",
    ),
    pytest.param("class T:\n    x = made()\n    def run(self):\n        self.x.seen", id="a class attribute"),
    pytest.param("class T:\n    x: int\nt = T(x=made())\nt.x.seen", id="a field of a dataclass"),
    pytest.param(
        "import torch.multiprocessing as mp\ndef work(rank, x):\n    x.seen\nmp.spawn(work, args=(made(),))",
        id="an argument of a spawned process",
    ),
    pytest.param(DATA + "DataLoader(d, sampler=made()).sampler.seen", id="the sampler of a loader"),
    pytest.param(DATA + "DataLoader(d, 1, False, made()).batch_sampler.sampler.seen", id="the sampler of its batches"),
    pytest.param(
        DATA + "DataLoader(d, batch_sampler=BatchSampler(made(), 8)).batch_sampler.sampler.seen",
        id="the sampler of a batch sampler",
    ),
    pytest.param(
        DATA + "class L(DataLoader): ...\nL(d, sampler=made()).sampler.seen", id="the sampler of an own loader"
    ),
    pytest.param(
        DATA + "x = {'sampler': made()}\nDataLoader(d, **x).sampler.seen", id="a loader's arguments in a dict"
    ),
    pytest.param(DATA + "x = DataLoader(d, sampler=made())\ngetattr(x, 'sampler').seen", id="an attribute asked for"),
]


@pytest.mark.parametrize("code", SEEN)
def test_a_value_is_followed_to(tmp_path: Path, code: str) -> None:
    _, trail = _trail(tmp_path, code)
    assert list(trail.reads("seen"))
    assert not list(trail.reads("other"))


COMPLETE = [
    pytest.param("x = made()\nprint(len(x), isinstance(x, T))\nx.seen", True, id="only looked at"),
    pytest.param("x = made()\nif x is not None and not x:\n    f'{x}'", True, id="only tested and shown"),
    pytest.param("x = made()\nunknown(x)", False, id="handed to something that nobody knows"),
    pytest.param("import lib\nlib.run(made())", False, id="handed to another library"),
    pytest.param("def f(x):\n    return x.seen\nf(made())", True, id="handed to a function in sight"),
    pytest.param("def f():\n    return made()", False, id="returned to nobody in sight"),
    pytest.param("def f():\n    return made()\nregister(f)", False, id="returned by a function that is handed on"),
    pytest.param("def f():\n    yield made()", False, id="given out by a generator"),
    pytest.param("f().x = made()", False, id="kept by an object that nobody knows"),
    pytest.param("f = lambda: made()\nf()", False, id="returned by a lambda"),
]


@pytest.mark.parametrize(("code", "complete"), COMPLETE)
def test_whether_a_trail_is_complete(tmp_path: Path, code: str, complete: bool) -> None:
    _, trail = _trail(tmp_path, code)
    assert trail.complete is complete


def test_a_name_that_another_file_imports_is_not_followed_to_the_end(tmp_path: Path) -> None:
    _, trail = _trail(tmp_path, "x = made()", other="from train import x\nx.seen")
    assert not trail.complete


def test_a_trail_knows_what_is_set_on_its_value(tmp_path: Path) -> None:
    _, trail = _trail(tmp_path, "x = made()\nx.epoch = 3\ny.seed = 4")
    assert trail.sets("epoch")
    assert not trail.sets("seed")


def test_a_pass_over_a_wrapper_is_not_direct(tmp_path: Path) -> None:
    _, trail = _trail(tmp_path, "x = made()\nfor b in x:\n    use(b)\nfor b in Prefetcher(x):\n    use(b)")
    assert [begun.is_direct for begun in trail.passes] == [True, False]


def test_a_value_is_followed_through_files(tmp_path: Path) -> None:
    code = "from loop import Trainer\nfrom data import wrap\nTrainer(wrap(made())).run()"
    data = "def wrap(sampler):\n    return {'train': sampler}\n"
    loop = "class Trainer:\n    def __init__(self, samplers):\n        self.samplers = samplers\n\n"
    loop += "    def run(self):\n        self.samplers['train'].seen\n"
    _, trail = _trail(tmp_path, code, data=data, loop=loop)
    assert list(trail.reads("seen"))
    assert trail.complete
    assert {"sampler", "samplers", "train", "wrap"} <= trail.words


def test_a_value_is_followed_through_a_renamed_import(tmp_path: Path) -> None:
    code = "def build():\n    return made()\n"
    _, trail = _trail(tmp_path, code, other="from train import build as _build\n_build().seen")
    assert list(trail.reads("seen"))
    assert trail.complete


def test_a_trail_comes_to_an_end(tmp_path: Path) -> None:
    _, trail = _trail(tmp_path, "def f(x):\n    return f([x])\nf(made())")
    assert not trail.complete
