"""The hooks of this repository, through the real pre-commit in a throw-away repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("ddplint", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
CLEAN = "print('nothing to see')\n"
DIRTY = (
    "from torch.nn import DataParallel\n\nmodel = DataParallel(net)\n"
    "for batch in loader:\n    model(batch).sum().backward()\n"
)
OLD = "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n"

pytestmark = pytest.mark.timeout(400)  # pre-commit builds and installs the hooks in an environment of its own


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what this one ships, as it is now, committed or not."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in SHIPPED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environments of hooks: one for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(hooks: Path, tmp_path: Path) -> Path:
    """A user's repository that has both hooks in its configuration."""
    revision = git(hooks, "rev-parse", "HEAD").strip()
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks.as_posix()}\n  rev: {revision}\n  hooks:\n  - id: ddplint-fix\n  - id: ddplint\n"
    )
    (tmp_path / "clean.py").write_text(CLEAN)
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=60).stdout


def commit(folder: Path) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all of it")


def pre_commit(project: Path, cache: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of pre-commit on what is staged in a project."""
    git(project, "add", "--all")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments, "--verbose", "--color=never"],
        cwd=project,
        env={**os.environ, "PRE_COMMIT_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_try_repo_finds_what_is_wrong(project: Path, hooks: Path, cache: Path) -> None:
    (project / "train.py").write_text(DIRTY)
    code, output = pre_commit(project, cache, "try-repo", str(hooks), "ddplint", "--all-files")
    assert code == 1, output
    assert "train.py:3:9: DDP101" in output


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("train.py", CLEAN, id="a clean file passes"),
        pytest.param("notes.txt", DIRTY, id="without a Python file there is nothing to check"),
        pytest.param("generated/train.py", DIRTY, id="a file that the settings exclude passes although it is named"),
    ],
)
def test_the_hooks_let_pass(project: Path, cache: Path, name: str, content: str) -> None:
    (project / "pyproject.toml").write_text('[tool.ddplint]\nexclude = ["generated/"]\n')
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(content)
    code, output = pre_commit(project, cache, "run")
    assert code == 0, output
    assert "DDP" not in output


def test_the_hooks_have_nothing_to_do_for_an_empty_list_of_files(project: Path, cache: Path) -> None:
    code, output = pre_commit(project, cache, "run", "--files")
    assert code == 0, output
    assert output.count("(no files to check)Skipped") == 2


def test_a_file_with_a_space_in_its_name_is_found(project: Path, cache: Path) -> None:
    (project / "train all.py").write_text(DIRTY)
    code, output = pre_commit(project, cache, "run", "ddplint")
    assert code == 1, output
    assert "train all.py:3:9: DDP101" in output


def test_the_fix_hook_repairs_and_then_passes(project: Path, cache: Path) -> None:
    (project / "train all.py").write_text(OLD)
    code, output = pre_commit(project, cache, "run", "ddplint-fix")
    assert code == 1, output
    assert "files were modified by this hook" in output
    assert "torch.cuda.amp" not in (project / "train all.py").read_text()
    code, output = pre_commit(project, cache, "run", "ddplint-fix")
    assert code == 0, output


def test_the_fix_hook_does_not_touch_what_no_safe_fix_repairs(project: Path, cache: Path) -> None:
    (project / "train.py").write_text(DIRTY)
    code, output = pre_commit(project, cache, "run", "ddplint-fix")
    assert code == 1, output
    assert (project / "train.py").read_text() == DIRTY
