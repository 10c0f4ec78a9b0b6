"""Whether all parameters of a module are frozen."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Expression, Name

HEAD = "from torch import nn\n\n"
LOOP = "for p in m.parameters():\n    p.requires_grad = False\n"
FROZEN = [
    pytest.param("m = load()\nm.requires_grad_(False)\nhere(m)\n", id="by a call"),
    pytest.param(f"m = load()\n{LOOP}here(m)\n", id="in a loop"),
    pytest.param(f"m = load()\n{LOOP}m = m.cuda()\nm.eval()\nhere(m.to(0))\n", id="and moved"),
    pytest.param("here(load().requires_grad_(False))\n", id="where it is made"),
    pytest.param("def f(m):\n    m.requires_grad_(False)\n    here(m)\n", id="as it comes in"),
    pytest.param(
        "m = load()\nfor n, p in m.named_parameters():\n    p.requires_grad_(False)\nhere(m)\n", id="with their names"
    ),
]
FROZEN += [
    pytest.param("def freeze(n):\n    n.requires_grad_(False)\nm = load()\nfreeze(m)\nhere(m)\n", id="by a helper"),
    pytest.param("def wrap(n):\n    here(n)\nm = load()\nm.requires_grad_(False)\nwrap(m)\n", id="by every caller"),
    pytest.param(
        "def stop(p):\n    p.requires_grad = False\nm = load()\nfor p in m.parameters():\n    stop(p)\nhere(m)\n",
        id="each by a helper",
    ),
]
NOT_FROZEN = [
    pytest.param(
        "def wrap(n):\n    here(n)\nm = load()\nm.requires_grad_(False)\nwrap(m)\nwrap(k)\n", id="by one caller"
    ),
    pytest.param(
        "def freeze(n):\n    if x:\n        n.requires_grad_(False)\nm = load()\nfreeze(m)\nhere(m)\n",
        id="by a helper with a test",
    ),
    pytest.param("m = load()\nhere(m)\n", id="never"),
    pytest.param("m = load()\nhere(m)\nm.requires_grad_(False)\n", id="only later"),
    pytest.param("m = load()\nif x:\n    m.requires_grad_(False)\nhere(m)\n", id="on some runs"),
    pytest.param(f"m = load()\n{LOOP}m.head = nn.Linear(1, 1)\nhere(m)\n", id="but for a new part"),
    pytest.param(f"m = load()\n{LOOP}wake(m)\nhere(m)\n", id="then handed to a function"),
    pytest.param(f"m = load()\n{LOOP}parts = m\nhere(m)\n", id="then known under another name"),
    pytest.param(f"m = load()\n{LOOP}m.requires_grad_(True)\nhere(m)\n", id="then woken"),
    pytest.param(f"m = load()\n{LOOP}m = load()\nhere(m)\n", id="another module under the same name"),
    pytest.param("m = load()\nm.body.requires_grad_(False)\nhere(m)\n", id="a part"),
    pytest.param(
        "m = load()\nfor p in m.parameters():\n    if x:\n        p.requires_grad = False\nhere(m)\n", id="by a test"
    ),
]


def _freeze(text: str, folder: Path) -> Expression | None:
    path = folder / "train.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    [here] = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "here"]
    return project.frozen.freeze_of(here.arguments[0].value)


@pytest.mark.parametrize("text", FROZEN)
def test_a_module_is_frozen(text: str, tmp_path: Path) -> None:
    assert _freeze(text, tmp_path) is not None


@pytest.mark.parametrize("text", NOT_FROZEN)
def test_a_module_may_be_trained(text: str, tmp_path: Path) -> None:
    assert _freeze(text, tmp_path) is None
