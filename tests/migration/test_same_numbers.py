"""Migrated scripts against their originals: the same steps, numbers, lines and files with one, two and three ranks.

On the CPU, DataParallel hands everything to the model as it is: the original is then the one process that has the whole
batch. The scripts compute in float64, go through their samples in order, and have batches that two and three ranks can
share.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.migration.runs import Run, largest_difference, run

pytest.importorskip("torch", reason="the scripts are run")

FOLDER = Path(__file__).parents[2] / "fixtures" / "migrate"
SCRIPTS = sorted(FOLDER.glob("*.py"))
RESUMABLE = FOLDER / "options_and_functions.py"
CLOSE = 1e-9

each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """What each original does."""
    folder = tmp_path_factory.mktemp("originals")
    return {script.name: run(script.read_text(), folder / script.stem, None) for script in SCRIPTS}


def migrated(script: Path, folder: Path) -> str:
    """Return the script as ``--fix`` leaves it; raises AssertionError when anything is left to say."""
    path = folder / script.name
    path.write_bytes(script.read_bytes())
    command = [sys.executable, "-m", "ddplint", "--fix", "--unsafe-fixes", "--no-cache", str(path)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return path.read_text()


@each_script
@pytest.mark.timeout(400)
def test_a_migrated_script_does_what_it_did(script: Path, originals: dict[str, Run], tmp_path: Path) -> None:
    text = migrated(script, tmp_path)
    original = originals[script.name]
    for ranks in (None, 2, 3):
        found = run(text, tmp_path / f"ranks_{ranks}", ranks)
        assert found.printed == original.printed, f"{ranks} ranks"
        assert largest_difference(found, original) < CLOSE, f"{ranks} ranks"


@pytest.mark.timeout(400)
def test_checkpoints_cross_over(originals: dict[str, Run], tmp_path: Path) -> None:
    whole = originals[RESUMABLE.name]
    text = migrated(RESUMABLE, tmp_path)
    run(RESUMABLE.read_text(), tmp_path / "original", None, "--epochs", "1")
    run(text, tmp_path / "migrated", 2, "--epochs", "1")
    saved = "checkpoints/epoch_0.pt"
    forth = run(text, tmp_path / "forth", 2, "--resume", str(tmp_path / "original" / saved))
    back = run(RESUMABLE.read_text(), tmp_path / "back", None, "--resume", str(tmp_path / "migrated" / saved))
    for resumed in (forth, back):
        last = {path: state for path, state in whole.saved.items() if path in resumed.saved and "epoch_2" in path}
        again = {path: resumed.saved[path] for path in last}
        assert last
        assert largest_difference(Run("", again), Run("", last)) < CLOSE
