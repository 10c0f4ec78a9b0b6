"""Functions under their names of today."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.edits import Editor
from ddplint.fixes import apply
from ddplint.migration import Rename
from ddplint.project import Workspace
from ddplint.source.spans import Spans

OLD = "torch.distributed._all_gather_base"
NEW = "all_gather_single"
FOLLOWED = [
    pytest.param("import torch\n" + OLD + "(a, b)", f"import torch\ntorch.distributed.{NEW}(a, b)", id="a full name"),
    pytest.param(
        "import torch.distributed as dist\ncall(dist._all_gather_base)",
        f"import torch.distributed as dist\ncall(dist.{NEW})",
        id="a function that is handed on",
    ),
    pytest.param(
        "from torch.distributed import _all_gather_base, barrier\n_all_gather_base(a, b)\n_all_gather_base(c, d)",
        f"from torch.distributed import {NEW}, barrier\n{NEW}(a, b)\n{NEW}(c, d)",
        id="an imported name with all its uses",
    ),
    pytest.param(
        "from torch.distributed.distributed_c10d import _all_gather_base as gather\ngather(a, b)",
        f"from torch.distributed.distributed_c10d import {NEW} as gather\ngather(a, b)",
        id="a name that the import gives",
    ),
]
LEFT = [
    pytest.param(
        "from torch.distributed import _all_gather_base\n_all_gather_base()\ndel _all_gather_base", id="deleted"
    ),
    pytest.param(
        f"from torch.distributed import _all_gather_base\n_all_gather_base()\n{NEW} = 1", id="a new name that is taken"
    ),
    pytest.param(
        "from torch.distributed import _all_gather_base\n__all__ = ['_all_gather_base']\n_all_gather_base()",
        id="a name for others",
    ),
    pytest.param("from torch.distributed import *\n_all_gather_base()", id="a name from a star"),
]


def _renamed(folder: Path, code: str, first: str = "") -> str | None:
    """Return what the rename makes of a file, None when it changes nothing."""
    path = folder / "train.py"
    path.write_text(code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    reference = next(iter(project.references(script, OLD)), None)
    if reference is None:
        return None
    editor = Editor(script.source, script.module, Spans(script.module, script.source.text))
    edits = Rename(project, reference, NEW, first).edits(editor)
    return apply(script.source, edits) if edits else None


@pytest.mark.parametrize(("before", "after"), FOLLOWED)
def test_a_function_gets_its_name_of_today(before: str, after: str, tmp_path: Path) -> None:
    assert _renamed(tmp_path, before + "\n") == after + "\n"


@pytest.mark.parametrize("code", LEFT)
def test_a_name_that_cannot_be_followed_is_left_alone(code: str, tmp_path: Path) -> None:
    assert _renamed(tmp_path, code + "\n") is None


def test_an_argument_goes_in_front_of_every_call(tmp_path: Path) -> None:
    code = "from torch.distributed import _all_gather_base as g\ng()\ng(1)\n"
    assert _renamed(tmp_path, code, "'cpu'") == f"from torch.distributed import {NEW} as g\ng('cpu')\ng('cpu', 1)\n"


def test_an_argument_cannot_travel_with_a_function_that_is_handed_on(tmp_path: Path) -> None:
    assert _renamed(tmp_path, "import torch\ncall(torch.distributed._all_gather_base)\n", "'cpu'") is None
