"""Folders to run ``ddplint`` in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.sandbox import PACK, Sandbox


@pytest.fixture(scope="session")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packs")
    package = folder / "tryout_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in PACK.items():
        (package / f"{name}.py").write_text(text)
    return folder


@pytest.fixture
def sandbox(tmp_path: Path, packs: Path) -> Sandbox:
    """A folder whose settings load the rules of the test pack and select only them."""
    sandbox = Sandbox(tmp_path, packs)
    sandbox.write("ddplint.toml", 'plugins = ["tryout_rules"]\nselect = ["DDP99"]\n')
    return sandbox
