"""``ddplint migrate --plan`` and ``--no-migrate``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = (Path(__file__).parents[2] / "fixtures" / "migrate" / "options_and_functions.py").read_text()
REFUSED = SCRIPT.replace("nn.DataParallel(Net())", "nn.DataParallel(Net(), dim=1)")
# A layer that the forward never calls, and one that it calls for some batches only.
UNUSED = SCRIPT.replace(
    "self.head = nn.Linear(12, 2)", "self.head = nn.Linear(12, 2)\n        self.spare = nn.Linear(6, 6)"
)
IDLE = UNUSED.replace(
    "def forward(self, x):\n", "def forward(self, x):\n        if len(x) > 1000:\n            x = self.spare(x)\n"
)


def ddplint(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(text)
    command = [sys.executable, "-m", "ddplint", *arguments, "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("text", "outcome", "said", "code"),
    [
        pytest.param(SCRIPT, "done", "apply it with: ddplint --fix --select DDP101", 0, id="a script that moves"),
        pytest.param(IDLE, "done with review notes", "look at line 102: it is not proven", 0, id="one with a note"),
        pytest.param(REFUSED, "refused", "line 99: DistributedDataParallel has no dim", 1, id="one that is refused"),
        pytest.param(UNUSED, "refused", "Net.spare is made and never used", 1, id="one with a part that is never used"),
        pytest.param("x = 1\n", "No DataParallel", "that trains was found", 0, id="nothing to move"),
    ],
)
def test_a_plan(text: str, outcome: str, said: str, code: int, tmp_path: Path) -> None:
    done = ddplint(tmp_path, text, "migrate", "--plan")
    assert (outcome in done.stdout, done.returncode) == (True, code), done.stdout
    assert said in done.stdout
    assert (tmp_path / "train.py").read_text() == text


def test_a_plan_for_programs(tmp_path: Path) -> None:
    [move] = json.loads(ddplint(tmp_path, SCRIPT, "migrate", "--plan", "--format", "json").stdout)["moves"]
    assert (move["path"], move["line"], move["outcome"], move["refusal"]) == ("train.py", 99, "done", None)
    assert all(change["reason"] and change["edits"] for change in move["changes"])


def test_a_refusal_for_programs(tmp_path: Path) -> None:
    [move] = json.loads(ddplint(tmp_path, REFUSED, "migrate", "--plan", "--format", "json").stdout)["moves"]
    assert (move["outcome"], move["changes"], move["refusal"]["line"]) == ("refused", [], 99)


@pytest.mark.parametrize(
    ("text", "options", "moves"),
    [
        pytest.param(SCRIPT, ["--fix"], True, id="a proven move is a safe fix"),
        pytest.param(SCRIPT, ["--fix", "--no-migrate"], False, id="the user wants no moves"),
        pytest.param(IDLE, ["--fix"], False, id="one with notes is no safe fix"),
        pytest.param(IDLE, ["--fix", "--unsafe-fixes"], True, id="one with notes is an unsafe fix"),
        pytest.param(REFUSED, ["--fix", "--unsafe-fixes"], False, id="a refused one stays as it is"),
    ],
)
def test_what_is_written(text: str, options: list[str], moves: bool, tmp_path: Path) -> None:
    ddplint(tmp_path, text, *options)
    after = (tmp_path / "train.py").read_text()
    assert (after != text, "DistributedDataParallel(model)" in after) == (moves, moves)


def test_a_second_fix_changes_nothing(tmp_path: Path) -> None:
    ddplint(tmp_path, SCRIPT, "--fix")
    once = (tmp_path / "train.py").read_text()
    done = ddplint(tmp_path, once, "--fix", "--unsafe-fixes")
    assert ((tmp_path / "train.py").read_text(), done.returncode) == (once, 0)
