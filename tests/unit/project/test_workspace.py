"""Projects whose files hold something else than the disk does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import parse as parsing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "main.py").write_text("import helper\nhelper.run()\n")
    (tmp_path / "helper.py").write_text("def run(): ...\n")
    return tmp_path


def test_other_contents_are_what_every_question_sees(folder: Path) -> None:
    on_disk = Workspace()
    changed = on_disk.holding(
        {folder / "helper.py": b"import torch.distributed\ntorch.distributed.init_process_group()\n"}
    )
    assert changed.is_distributed(folder / "main.py")
    assert not on_disk.is_distributed(folder / "main.py")


def test_what_has_not_changed_is_not_parsed_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk = Workspace()
    before = on_disk.project(folder / "main.py").script(folder / "main.py")
    changed = on_disk.holding({folder / "helper.py": b"def run(): return 1\n"})
    monkeypatch.setattr(parsing, "parse", None)
    assert changed.project(folder / "main.py").script(folder / "main.py") is before


def test_what_has_changed_is_parsed_as_it_is_now(folder: Path) -> None:
    on_disk = Workspace()
    helper = folder / "helper.py"
    before = on_disk.project(helper).script(helper)
    after = on_disk.holding({helper: b"def go(): ...\n"}).project(helper).script(helper)
    assert before is not None
    assert after is not None
    assert [function.name for function in before.functions] == ["run"]
    assert [function.name for function in after.functions] == ["go"]
