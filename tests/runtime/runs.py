"""``ddplint confirm`` as a user runs it, on scripts of two gloo ranks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Seconds. The scripts take a few; the limit is for a machine that is busy with others.
LIMIT = 100
OPTIONS = ("--launcher", "direct", "--stall", "8", "--pedantic")


@dataclass(frozen=True)
class Run:
    """What a run printed as JSON, and its exit code."""

    code: int
    content: dict[str, Any]

    @property
    def about(self) -> dict[str, Any]:
        """What there is to say of the run itself."""
        about: dict[str, Any] = self.content["run"]
        return about

    def verdicts(self, code: str) -> list[dict[str, Any]]:
        """The verdicts on the findings of a rule."""
        return [finding["verdict"] for finding in self.content["findings"] if finding["code"] == code]


def command(script: Path, *options: str) -> list[str]:
    """The command that confirms a script; options of the script follow ``--``."""
    return [sys.executable, "-m", "ddplint", "confirm", str(script), *OPTIONS, "--format", "json", *options]


def environment() -> dict[str, str]:
    """The environment of the tests, in which the sources are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def confirm(script: Path, *options: str) -> Run:
    """Run ``ddplint confirm`` in the folder of a script."""
    done = subprocess.run(
        command(Path(script.name), *options),
        cwd=script.parent,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.stdout, done.stderr
    return Run(done.returncode, json.loads(done.stdout))


def processes_of(mark: str) -> list[int]:
    """The living processes whose command line names a script."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in words and state != b"Z":
                found.append(int(entry.name))
    return found
