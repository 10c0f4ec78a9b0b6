"""Run each script that shows a mistake, and print whether its verdict is the one that it should get.

    python -m benchmarks.verdicts                   the scripts in fixtures/train
    python -m benchmarks.verdicts --cases FOLDER    folders with bad.py, good.py and case.json (its rule: DDPnnn)

``bad*.py`` should be confirmed, ``refuted*.py`` refuted; ``good.py`` of a case should get no confirmed verdict of its
rule. A run that comes to no verdict is counted apart: it is no wrong one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures" / "train"
OPTIONS = ("--launcher", "direct", "--stall", "5", "--time-limit", "90", "--pedantic", "--format", "json")
EXPECTED = {"bad": "confirmed", "refuted": "refuted", "good": "not confirmed"}


@dataclass(frozen=True, slots=True)
class Trial:
    """A script, the rule that it is about, and the verdict that it should get."""

    script: Path
    code: str
    expected: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path)
    options = parser.parse_args()
    results: Counter[str] = Counter()
    for trial in _fixtures() if options.cases is None else _cases(options.cases):
        start = time.monotonic()
        found = _verdict(trial)
        result = _judged(trial.expected, found)
        results[result] += 1
        seconds = time.monotonic() - start
        name = f"{trial.script.parent.name}/{trial.script.name}"
        print(f"{trial.code}  {name:<48} {trial.expected:<14} {found:<15} {result:<6} {seconds:5.1f} s", flush=True)
    print(", ".join(f"{number} {result}" for result, number in results.items()))


def _fixtures() -> Iterator[Trial]:
    for path in sorted(FIXTURES.glob("DDP*/*.py")):
        kind = path.stem.rstrip("0123456789_")
        if kind in ("bad", "refuted"):
            yield Trial(path, path.parent.name.partition("_")[0], EXPECTED[kind])


def _cases(folder: Path) -> Iterator[Trial]:
    for path in sorted(folder.glob("*/case.json")):
        code = json.loads(path.read_text("utf-8"))["rule"]
        for kind in ("bad", "good"):
            yield Trial(path.parent / f"{kind}.py", code, EXPECTED[kind])


def _verdict(trial: Trial) -> str:
    """Return what the run says of the rule: the statuses of its findings, or that there is none."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(trial.script, folder)
        command = [sys.executable, "-m", "ddplint", "confirm", trial.script.name, "--select", trial.code, *OPTIONS]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    if not done.stdout:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "nothing"
    findings = json.loads(done.stdout)["findings"]
    if not findings:
        return "no finding"
    found = {finding["verdict"]["status"] if finding.get("verdict") else "not judged" for finding in findings}
    return " ".join(sorted(found))


def _judged(expected: str, found: str) -> str:
    if expected == "not confirmed":
        return "wrong" if "confirmed" in found.split() else "right"
    if expected in found.split():
        return "right"
    return "wrong" if {"confirmed", "refuted"} & set(found.split()) else "open"


if __name__ == "__main__":
    main()
