"""Each script in ``fixtures/train/CODE_name`` against what its run has to say of the finding.

``bad*.py``: confirmed. ``refuted*.py``: there is a finding, and the run refutes it. ``good*.py``: there is none.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ddplint.testing.bench import observe
from tests.runtime.runs import confirm

FOLDER = Path(__file__).parents[2] / "fixtures" / "train"
EXPECTED = {"bad": "confirmed", "refuted": "refuted"}


def scripts(*kinds: str) -> list[object]:
    paths = sorted(path for kind in kinds for path in FOLDER.glob(f"DDP*/{kind}*.py"))
    return [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in paths]


@pytest.mark.parametrize("path", scripts("bad", "refuted"))
def test_a_run_judges_the_finding(path: Path, tmp_path: Path) -> None:
    script = Path(shutil.copy(path, tmp_path))
    code, _, _ = path.parent.name.partition("_")
    run = confirm(script, "--select", code)
    expected = EXPECTED[path.stem.rstrip("0123456789_")]
    if [verdict and verdict["status"] for verdict in run.verdicts(code)] == ["not_exercised"]:
        # On a busy machine a rank can stand still for as long as a hang: a run that came to no verdict is made again.
        run = confirm(script, "--select", code)
    assert [verdict and verdict["status"] for verdict in run.verdicts(code)] == [expected], run.content
    assert run.about["hooks_failed"] == []
    assert run.code == (expected == "confirmed")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [path.name]  # the folder stays as it was


@pytest.mark.parametrize("path", scripts("good"))
def test_the_script_without_the_mistake_has_no_finding(path: Path) -> None:
    code, _, _ = path.parent.name.partition("_")
    observed = observe({"train.py": path.read_text(encoding="utf-8")})
    assert [finding for finding in observed.findings if finding.code == code] == []


def test_a_script_without_a_finding_runs_to_its_end_and_confirms_nothing(tmp_path: Path) -> None:
    script = Path(shutil.copy(FOLDER / "DDP602_save_every_rank" / "good.py", tmp_path))
    run = confirm(script)
    assert (run.code, run.about["ending"], run.about["steps"]) == (0, "finished", {"0": 3, "1": 3}), run.content
