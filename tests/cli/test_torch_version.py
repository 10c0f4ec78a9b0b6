"""Which torch the code is for decides whether a rule speaks and whether its fix is safe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = "from torch.cuda.amp import autocast\n\nwith autocast():\n    pass\n"
CASES = [
    pytest.param("torch==1.7.1", [], None, id="a pinned torch that has no other name: silent"),
    pytest.param("torch>=1.8", [], "unsafe", id="an old torch is allowed: the fix is not safe"),
    pytest.param("torch>=2.4", [], "safe", id="only newer ones are allowed: the fix is safe"),
    pytest.param("torch==1.7.1", ["--torch-version", "2.6"], "safe", id="the option overrules the requirements"),
    pytest.param("torch>=2.4", ["--torch-version", "2.3"], None, id="in both directions"),
]


@pytest.mark.parametrize(("requirement", "options", "applicability"), CASES)
def test_requirements_and_options(
    requirement: str, options: list[str], applicability: str | None, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(requirement + "\n")
    (tmp_path / "train.py").write_text(CODE)
    command = [sys.executable, "-m", "ddplint", "--format", "json", *options, "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    fixes = [finding["fix"]["applicability"] for finding in json.loads(done.stdout)["findings"]]
    assert fixes == ([] if applicability is None else [applicability])
