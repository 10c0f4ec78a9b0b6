"""What the README shows is what the program prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_shown_output_is_the_real_output() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)\n```", readme, re.DOTALL)
    assert shown is not None
    command = [sys.executable, "-m", "ddplint", "fixtures/train/tutorial"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout.rstrip() == shown[1]
