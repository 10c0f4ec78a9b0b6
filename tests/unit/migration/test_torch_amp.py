"""From torch.cuda.amp to torch.amp: what a fix makes of a file, and where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.edits import CannotEdit, Editor
from ddplint.fixes import apply
from ddplint.migration import TorchAmpMove
from ddplint.project import Workspace
from ddplint.source.spans import Spans

OLD = tuple(
    f"torch.{device}.amp.{name}"
    for device in ("cuda", "cpu")
    for name in ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
)
FIXED = [
    pytest.param("torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")', id="no arguments"),
    pytest.param("torch.cpu.amp.autocast()", 'torch.amp.autocast("cpu")', id="the CPU"),
    pytest.param(
        "torch.cuda.amp.autocast(a, b, c)",
        'torch.amp.autocast("cuda", enabled=a, dtype=b, cache_enabled=c)',
        id="arguments in their places",
    ),
    pytest.param(
        "torch.cuda.amp.autocast(\n    a,\n)", 'torch.amp.autocast(\n    "cuda", enabled=a,\n)', id="arguments on lines"
    ),
    pytest.param(
        "torch.cuda.amp.autocast(enabled=(a or b))",
        'torch.amp.autocast("cuda", enabled=(a or b))',
        id="a value in parentheses",
    ),
    pytest.param("torch.cuda.amp.autocast(**k)", 'torch.amp.autocast("cuda", **k)', id="two stars"),
    pytest.param("torch.cuda.amp.GradScaler(*a)", 'torch.amp.GradScaler("cuda", *a)', id="a star of the scaler"),
    pytest.param(
        "torch.cuda.amp.custom_fwd(f)", 'torch.amp.custom_fwd(f, device_type="cuda")', id="a called decorator"
    ),
    pytest.param(
        "@torch.cuda.amp.custom_bwd\ndef f(): ...",
        '@torch.amp.custom_bwd(device_type="cuda")\ndef f(): ...',
        id="a bare decorator",
    ),
    pytest.param(
        "from torch.cuda.amp import autocast as a\na()",
        'from torch.amp import autocast as a\na("cuda")',
        id="an imported name",
    ),
    pytest.param(
        "from torch.cuda import Stream, amp\namp.autocast()",
        'from torch.cuda import Stream\nfrom torch import amp\namp.autocast("cuda")',
        id="the module beside something else",
    ),
    pytest.param(
        "from torch.cuda.amp import (\n    autocast,\n    common,\n)\nautocast()",
        'from torch.cuda.amp import (\n    common,\n)\nfrom torch.amp import autocast\nautocast("cuda")',
        id="a name beside one that stays",
    ),
    pytest.param(
        "import torch.cuda.amp as amp, os\namp.GradScaler()",
        'import torch.amp as amp, os\namp.GradScaler("cuda")',
        id="the module under another name",
    ),
    pytest.param(
        "from torch.cuda import amp\nx = amp.grad_scaler.GradScaler()",
        'from torch import amp\nx = amp.grad_scaler.GradScaler("cuda")',
        id="a module of the module",
    ),
    pytest.param(
        "def f():\n    from torch.cuda.amp import autocast\n    autocast()",
        'def f():\n    from torch.amp import autocast\n    autocast("cuda")',
        id="an import in a function",
    ),
    pytest.param(
        "if t: from torch.cuda.amp import autocast, common\nautocast()",
        'if t:\n    from torch.cuda.amp import common\n    from torch.amp import autocast\nautocast("cuda")',
        id="an import on the line of its test",
    ),
    pytest.param(
        "from torch import cuda\ncuda.amp.autocast()",
        'from torch import cuda\ntorch.amp.autocast("cuda")',
        id="a module further out",
    ),
    pytest.param(
        "amp = torch.cuda.amp\namp.autocast()",
        'amp = torch.cuda.amp\ntorch.amp.autocast("cuda")',
        id="a variable that holds the module",
    ),
    pytest.param(
        "a = torch.cuda.amp.autocast\na(enabled=e)",
        'import functools\na = functools.partial(torch.amp.autocast, "cuda")\na(enabled=e)',
        id="a variable that is called",
    ),
    pytest.param(
        "from torch.cuda.amp import autocast\na = autocast if t else n\na()",
        'from torch.amp import autocast\nimport functools\na = functools.partial(autocast, "cuda") if t else n\na()',
        id="an imported name chosen first and called later",
    ),
    pytest.param(
        "s = torch.cuda.amp.GradScaler\ns(enabled=e)",
        "s = torch.amp.GradScaler\ns(enabled=e)",
        id="a scaler whose device is the default",
    ),
    pytest.param(
        "torch.cuda.amp.autocast()  # bf16",
        'torch.amp.autocast("cuda", dtype=torch.float16)  # bf16',
        id="a program with another dtype",
    ),
    pytest.param(
        "torch.cuda.amp.autocast(False)  # bf16",
        'torch.amp.autocast("cuda", enabled=False)  # bf16',
        id="another dtype does not matter where nothing is cast",
    ),
]
UNFIXED = [
    pytest.param("torch.cuda.amp.autocast(*a)", id="arguments behind a star"),
    pytest.param("torch.cuda.amp.autocast(**k)  # bf16", id="arguments behind stars, and a dtype to be written"),
    pytest.param("from torch.cuda.amp import autocast\n__all__ = ['autocast']\nautocast()", id="a name for others"),
    pytest.param("from torch.cuda.amp import autocast\nautocast()\nuse(autocast)", id="a name that is handed on, too"),
    pytest.param("from torch.cuda.amp import autocast\nautocast()\ndel autocast", id="a name that is deleted"),
    pytest.param("from torch.cuda import amp\namp.autocast()\ngetattr(amp, n)", id="a module that is looked into"),
    pytest.param("from torch.cuda.amp import *\nautocast()", id="a name from a star"),
    pytest.param("a = torch.cuda.amp.autocast\na(e)", id="a variable that is called with places"),
    pytest.param("self.a = torch.cuda.amp.autocast", id="an attribute that holds it"),
    pytest.param("class T(torch.cuda.amp.GradScaler): ...", id="a base class"),
    pytest.param("@torch.cuda.amp.autocast\ndef f(): ...", id="a class as a decorator"),
    pytest.param("torch.cuda.amp.GradScaler()\nisinstance(s, torch.cuda.amp.GradScaler)", id="a test of the type"),
    pytest.param(
        "from torch.cuda.amp import GradScaler\ns = new() if hasattr(torch.amp, 'GradScaler') else GradScaler()\n"
        "GradScaler()",
        id="an import that also serves old versions",
    ),
]


def _fixed(folder: Path, code: str) -> str | None:
    """Return what the first fix makes of a file, None when there is none."""
    path = folder / "train.py"
    path.write_text(code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    reference = next(found for found in project.references(script, *OLD) if not found.is_fallback)
    editor = Editor(script.source, script.module, Spans(script.module, script.source.text))
    try:
        fix = TorchAmpMove(project, reference).fix(editor)
    except CannotEdit:
        return None
    return None if fix is None else apply(script.source, fix.edits)


@pytest.mark.parametrize(("before", "after"), FIXED)
def test_a_use_moves_with_the_import_that_it_needs(before: str, after: str, tmp_path: Path) -> None:
    assert _fixed(tmp_path, f"import torch\n{before}\n") == f"import torch\n{after}\n"


@pytest.mark.parametrize("code", UNFIXED)
def test_what_cannot_be_followed_is_left_alone(code: str, tmp_path: Path) -> None:
    assert _fixed(tmp_path, f"import torch\n{code}\n") is None


def test_a_name_that_another_file_reads_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    (tmp_path / "other.py").write_text("from train import autocast\n")
    assert _fixed(tmp_path, "from torch.cuda.amp import autocast\nautocast()\n") is None


def test_a_name_that_comes_from_another_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    (tmp_path / "tools.py").write_text("from torch.cuda.amp import autocast\n")
    assert _fixed(tmp_path, "import torch\nfrom tools import autocast\nautocast()\n") is None


def test_all_that_an_import_binds_moves_at_once(tmp_path: Path) -> None:
    code = "from torch.cuda.amp import GradScaler, autocast\ns: GradScaler = GradScaler()\nwith autocast(e): ...\n"
    moved = (
        'from torch.amp import GradScaler, autocast\ns: GradScaler = GradScaler("cuda")\n'
        'with autocast("cuda", enabled=e): ...\n'
    )
    assert _fixed(tmp_path, code) == moved
