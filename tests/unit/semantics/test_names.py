"""What names stand for, in every import form."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

CASES = [
    pytest.param("import torch\ntorch.nn.DataParallel(m)", {"torch.nn.DataParallel"}, id="a plain import"),
    pytest.param("import torch.nn as nn\nnn.DataParallel(m)", {"torch.nn.DataParallel"}, id="a module under an alias"),
    pytest.param("from torch import nn\nnn.DataParallel(m)", {"torch.nn.DataParallel"}, id="a module from its package"),
    pytest.param(
        "from torch.nn.parallel import DataParallel as DP\nDP(m)", {"torch.nn.DataParallel"}, id="another home, renamed"
    ),
    pytest.param("from torch.nn import *\nDataParallel(m)", {"torch.nn.DataParallel"}, id="a star import of torch"),
    pytest.param(
        "import torch\nDP = torch.nn.DataParallel\nDP(m)", {"torch.nn.DataParallel"}, id="an alias by assignment"
    ),
    pytest.param("DataParallel(m)", {"?"}, id="a name that nobody defines"),
    pytest.param(
        "class DataParallel: ...\nDataParallel(m)", {"<here>.DataParallel"}, id="an own class of the same name"
    ),
    pytest.param(
        "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    from apex import autocast\nautocast()",
        {"torch.cuda.amp.autocast", "apex.autocast"},
        id="either of two imports",
    ),
    pytest.param(
        "import torch\nif x:\n    f = torch.save\nelse:\n    f = print\nf()",
        {"torch.save", "builtins.print"},
        id="either of two branches",
    ),
    pytest.param(
        "import torch\nf = print\nf = torch.save\nf()", {"torch.save"}, id="the later assignment hides the earlier"
    ),
    pytest.param(
        "import torch\nf = print\nif x:\n    f = torch.save\nelif y:\n    f = abs\nelse:\n    f = torch.add\nf()",
        {"torch.save", "builtins.abs", "torch.add"},
        id="branches that all assign hide what was before",
    ),
    pytest.param(
        "import torch\nf = torch.add\nif x:\n    f = torch.save\nelse:\n    raise E\nf()",
        {"torch.save"},
        id="a branch that leaves needs no assignment",
    ),
    pytest.param(
        "import torch\nf = print\nfor x in y:\n    f()\n    f = torch.save",
        {"builtins.print", "torch.save"},
        id="around a loop",
    ),
    pytest.param("print(1)", {"builtins.print"}, id="a builtin"),
    pytest.param("def g(print):\n    print(1)", {"?"}, id="a parameter hides a builtin"),
    pytest.param(
        "import torch\ndef g():\n    import torch\n    torch.save()", {"torch.save"}, id="an import in a function"
    ),
    pytest.param(
        "import torch\nclass A:\n    save = print\n    def f(self):\n        save(1)",
        {"?"},
        id="names of a class are not seen inside",
    ),
    pytest.param(
        "import torch.amp\nx = torch.autocast('cuda')", {"torch.amp.autocast"}, id="two documented names for one thing"
    ),
]


@pytest.mark.parametrize(("code", "names"), CASES)
def test_the_last_call_of_a_file_is_known_by_its_documented_name(code: str, names: set[str], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert project.names(script.calls[-1].callee) == names


def test_names_are_followed_through_the_files_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("from .wrap import *\nfrom .names import DP as Wrapped\n")
    (tmp_path / "lib" / "names.py").write_text("from torch.nn import DataParallel as DP\n")
    (tmp_path / "lib" / "wrap.py").write_text("import torch\nsave = torch.save\n")
    train = tmp_path / "train.py"
    train.write_text("import lib\nfrom lib import names, save\nlib.Wrapped(m)\nnames.DP(m)\nsave(m)\nlib.save(m)\n")
    project = Workspace().project(train)
    script = project.script(train)
    assert script is not None
    assert [project.names(call.callee) for call in script.calls] == [
        {"torch.nn.DataParallel"},
        {"torch.nn.DataParallel"},
        {"torch.save"},
        {"torch.save"},
    ]
