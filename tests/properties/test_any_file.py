"""No Python file makes a rule fall over: tried on the standard library, most of which no rule was written for."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest

from ddplint.config import Settings
from ddplint.engine.gate import Assignment
from ddplint.engine.lint_file import FileLinter
from ddplint.engine.outcomes import Failed, Linted
from ddplint.project import Workspace
from ddplint.testing import rules_of

LIBRARY = Path(sysconfig.get_path("stdlib"))
# Every so manieth file is in the sample.
STRIDE = 80


def library() -> list[Path]:
    """The files of the standard library, without what was installed into it."""
    return [path for path in sorted(LIBRARY.rglob("*.py")) if "site-packages" not in path.parts]


def complaints(paths: Iterable[Path]) -> list[str]:
    """What goes wrong when all rules are asked about files, also those that hold no word of theirs."""
    rules = rules_of()
    codes = frozenset(rule.rule.code for rule in rules)
    linter = FileLinter(rules, Settings(pedantic=True), Workspace())
    found = []
    for path in paths:
        outcome = linter.lint(Assignment(path, str(path), path.read_bytes(), codes, codes))
        if isinstance(outcome, Linted):
            found += [f"{path}: {defect.rule}: {defect.detail}" for defect in outcome.defects]
        elif isinstance(outcome, Failed) and outcome.ours:
            found.append(f"{path}: {outcome.reason}")
    return found


def test_a_sample_of_the_standard_library(tmp_path: Path) -> None:
    sample = []
    for number, path in enumerate(library()[::STRIDE]):
        folder = tmp_path / str(number)  # a project of its own, so that no other file is searched
        folder.mkdir()
        (folder / "pyproject.toml").touch()
        sample.append(Path(shutil.copy(path, folder)))
    assert len(sample) > 10
    assert complaints(sample) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_whole_standard_library() -> None:
    assert complaints(library()) == []
