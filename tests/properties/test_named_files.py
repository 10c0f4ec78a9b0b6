"""What is said of a file does not depend on which files were named beside it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest

from ddplint.config import Settings
from ddplint.engine import run
from ddplint.engine.outcomes import Outcome
from ddplint.engine.run import Linter, lint_files

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("name", ["projects/split_training", "train/tutorial"])
def test_a_file_gets_the_same_answer_alone_in_pairs_and_in_the_whole(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(FIXTURES / name, tmp_path / "project"))
    monkeypatch.chdir(folder)
    (folder / "setup.py").touch()  # a root of its own
    files = sorted(folder.rglob("*.py"))
    whole = _linted(files, folder)
    assert any(getattr(outcome, "findings", ()) for outcome in whole.values())
    for group in (*((file,) for file in files), *combinations(files, 2), tuple(reversed(files))):
        for path, outcome in _linted(group, folder).items():
            assert outcome == whole[path], group
    monkeypatch.setattr(run, "SMALL_RUN", 0)
    assert _linted(files, folder) == whole  # in workers


def _linted(files: Sequence[Path], folder: Path) -> dict[str, Outcome]:
    linter = Linter(Settings(root=folder, pedantic=True))
    return {outcome.path: outcome for outcome in lint_files(linter, files, folder, jobs=2)}
