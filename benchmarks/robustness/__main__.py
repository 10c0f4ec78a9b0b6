"""Ask every rule about every Python file below some folders, and print what went wrong.

    python -m benchmarks.robustness FOLDER...
    python -m benchmarks.robustness --every 10 FOLDER...     each tenth file only

No file needs a trigger word: all rules are awake. Each file is a project of its own. A rule that raises, a file that
fails by our fault and a file that takes longer than 20 seconds are printed; none of them is expected.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from ddplint.config import Settings
from ddplint.engine.gate import Assignment
from ddplint.engine.lint_file import FileLinter
from ddplint.engine.outcomes import Failed, Linted, Outcome
from ddplint.project import Workspace
from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing import rules_of

# Seconds for one file.
PATIENCE = 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    options = parser.parse_args()
    files = [path for folder in options.folders for path in sorted(folder.rglob("*.py"))][:: options.every]
    troubles = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(troubles_of, files, chunksize=8):
            troubles += len(lines)
            for line in lines:
                print(line, flush=True)
    print(f"{len(files)} files, {troubles} troubles")


def troubles_of(path: Path) -> list[str]:
    """Lint one file with every rule awake and return what went wrong."""
    rules = _rules()
    codes = frozenset(rule.rule.code for rule in rules)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").touch()
        copy = Path(shutil.copy(path, folder))
        linter = FileLinter(rules, Settings(pedantic=True), Workspace())
        outcome = linter.lint(Assignment(copy, str(path), copy.read_bytes(), codes, codes))
    return list(_troubles(path, outcome, time.perf_counter() - started))


@cache
def _rules() -> tuple[RegisteredRule, ...]:
    return rules_of()


def _troubles(path: Path, outcome: Outcome, seconds: float) -> Iterator[str]:
    if isinstance(outcome, Linted):
        yield from (f"{path}: {defect.rule}: {defect.detail}" for defect in outcome.defects)
    elif isinstance(outcome, Failed) and outcome.ours:
        yield f"{path}: {outcome.reason}"
    if seconds > PATIENCE:
        yield f"{path}: {seconds:.0f} s"


if __name__ == "__main__":
    main()
