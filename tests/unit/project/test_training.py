"""Whether a module is trained: followed out of the function that makes it, into those who get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Call, Name

STEP = """    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model(batch).sum().backward()
    optimizer.step()
"""
HEAD = "import torch\nfrom torch import nn\n"
TRAINED = [
    pytest.param({"main": f"def fit(model, batch):\n    model = wrap(model)\n{STEP}"}, id="in the same function"),
    pytest.param(
        {"main": f"def build():\n    return wrap(nn.Linear(1, 1))\ndef fit(batch):\n    model = build()\n{STEP}"},
        id="returned to a function that trains",
    ),
    pytest.param(
        {
            "main": f"def build():\n    m = wrap(nn.Linear(1, 1))\n    kept = [m]\n    return kept\n"
            f"def fit(batch):\n    model, = build()\n{STEP}"
        },
        id="returned inside a list",
    ),
    pytest.param(
        {
            "main": f"def prepare(model):\n    model.encoder = wrap(model.encoder)\n"
            f"def fit(model, batch):\n    prepare(model)\n{STEP}"
        },
        id="put into what the caller gave",
    ),
    pytest.param(
        {
            "nets": "def build():\n    return wrap(nn.Linear(1, 1))\n",
            "main": f"from nets import build\ndef fit(batch):\n    model = build()\n{STEP}",
        },
        id="returned to another file",
    ),
    pytest.param(
        {
            "main": "class Trainer:\n    def __init__(self, m):\n        self.model = wrap(m)\n"
            "    def run(self, batch):\n        self.model(batch).sum().backward()\nTrainer(nn.Linear(1, 1)).run(1)\n"
        },
        id="kept by an object whose method trains",
    ),
    pytest.param(
        {
            "main": "class Base:\n    def run(self):\n        self.step()\n    def step(self):\n        raise Missing\n"
            "class Trainer(Base):\n    def __init__(self, m):\n        self.m = m\n"
            "    def step(self):\n        self.m().backward()\n"
            "model = wrap(nn.Linear(1, 1))\nTrainer(model).run()\n"
        },
        id="trained by a method that a subclass overrides",
    ),
    pytest.param(
        {
            "main": "def make():\n    model = wrap(nn.Linear(1, 1))\n    def update(engine, batch):\n"
            "        model(batch).backward()\n    return Engine(update)\n"
        },
        id="trained by a function that is handed on",
    ),
    pytest.param(
        {"main": "from elsewhere import train\nmodel = wrap(nn.Linear(1, 1))\ntrain(model)\n"},
        id="handed to a function that can't be read and says that it trains",
    ),
    pytest.param(
        {"main": "from elsewhere import get_optimizer\nmodel = wrap(nn.Linear(1, 1))\nget_optimizer(model)\n"},
        id="given to an optimizer of unknown making",
    ),
]
NOT_TRAINED = [
    pytest.param({"main": "model = wrap(nn.Linear(1, 1))\nprint(model(1))\n"}, id="only called"),
    pytest.param(
        {
            "main": f"def fit(model, batch):\n{STEP}\n"
            "def test():\n    model = wrap(nn.Linear(1, 1))\n    print(model(1))\n"
            "if mode:\n    fit(1, 2)\nelse:\n    test()\n"
        },
        id="in a function beside the one that trains",
    ),
    pytest.param(
        {
            "main": f"def fit(batch):\n    model = nn.Linear(1, 1)\n{STEP}    score(batch)\n"
            "def score(batch):\n    judge = wrap(nn.Linear(1, 1))\n    return judge(batch)\n"
        },
        id="made and left in a function that training calls",
    ),
    pytest.param(
        {"main": f"if mode == 'test':\n    model = wrap(nn.Linear(1, 1))\n    model(1)\nelse:\n{STEP}"},
        id="in the branch that does not train",
    ),
    pytest.param(
        {
            "main": "class Judge:\n    def __init__(self, m):\n        self.m = wrap(m)\n    def judge(self, x):\n"
            "        return self.m(x)\n    def improve(self, x):\n        self.m(x).backward()\nJudge(1).judge(2)\n"
        },
        id="kept by an object whose training method nobody calls",
    ),
    pytest.param({"main": "model = wrap(nn.Linear(1, 1))\nmodel.train(False)\n"}, id="set to evaluate by train(False)"),
]


@pytest.mark.parametrize("files", TRAINED)
def test_a_module_that_comes_to_a_backward_pass_is_trained(files: dict[str, str], tmp_path: Path) -> None:
    assert _trains(files, tmp_path)


@pytest.mark.parametrize("files", NOT_TRAINED)
def test_a_module_without_backward_pass_in_reach_is_not_trained(files: dict[str, str], tmp_path: Path) -> None:
    assert not _trains(files, tmp_path)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("with torch.no_grad():\n    wrap(1)\n", True, id="under no_grad"),
        pytest.param("@torch.no_grad()\ndef f():\n    wrap(1)\n", True, id="in a function decorated with no_grad"),
        pytest.param("@torch.inference_mode\ndef f():\n    wrap(1)\n", True, id="decorated without parentheses"),
        pytest.param("with torch.enable_grad():\n    wrap(1)\n", False, id="under enable_grad"),
        pytest.param(
            "with torch.no_grad():\n    def f():\n        wrap(1)\n", False, id="in a function only made there"
        ),
    ],
)
def test_code_without_gradient_is_known(code: str, expected: bool, tmp_path: Path) -> None:
    project, wrap = _wrap({"main": code}, tmp_path)
    assert project.training.without_gradient(wrap) is expected


def _trains(files: dict[str, str], folder: Path) -> bool:
    project, wrap = _wrap(files, folder)
    return project.training.trains(wrap)


def _wrap(files: dict[str, str], folder: Path) -> tuple[Project, Call]:
    """Return the project and the call of ``wrap`` in it."""
    (folder / "pyproject.toml").touch()
    for name, code in files.items():
        (folder / f"{name}.py").write_text(HEAD + code)
    project = Workspace().project(folder / "main.py")
    for name in files:
        script = project.script(folder / f"{name}.py")
        assert script is not None
        for call in script.calls:
            if isinstance(call.callee, Name) and call.callee.id == "wrap":
                return project, call
    raise AssertionError("nothing is wrapped")
