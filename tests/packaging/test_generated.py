"""What is made from the rules is as the rules say: after a change, run ``python docs/generate.py``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "rules").is_dir(), reason="the sources are not here")
def test_pages_and_table_are_those_of_the_rules() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
