"""Lint public repositories with default settings and score every finding by its recorded label.

    python -m benchmarks.precision --checkouts FOLDER            all repositories of repositories.csv
    python -m benchmarks.precision --checkouts FOLDER OWNER/NAME ...
    python -m benchmarks.precision --checkouts FOLDER --unread unread.csv    what nobody has read yet

A repository is looked for in FOLDER/OWNER+NAME; one that is not there is fetched from GitHub at its commit. A label
holds for a line of that commit; findings without one are counted as unread, never as right.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.precision.labels import Reading, Spot, read_labels, read_repositories


@dataclass(frozen=True, slots=True)
class Found:
    """One finding of this run."""

    spot: Spot
    confidence: str
    message: str


def main() -> None:
    options = _options()
    commits = read_repositories()
    labels = read_labels()
    found: list[Found] = []
    for repository in options.repositories or commits:
        folder = _checkout(options.checkouts, repository, commits[repository])
        outcome = _lint(folder)
        for failed in outcome["files"]["failed"]:
            print(f"{repository}: {failed['path']} failed: {failed['reason']}")
        found += _findings(repository, outcome)
    _table(found, labels)
    if options.unread:
        _write_unread(options.unread, [each for each in found if each.spot not in labels])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="*", metavar="OWNER/NAME")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--unread", type=Path, metavar="FILE", help="write the findings without a label to a CSV file")
    return parser.parse_args()


def _checkout(folder: Path, repository: str, commit: str) -> Path:
    """Return the folder of a repository, fetched when it is not there; raises CalledProcessError when git fails."""
    path = folder / repository.replace("/", "+")
    if not path.is_dir():
        path.mkdir(parents=True)
        git = ["git", "-C", str(path)]
        subprocess.run([*git, "init", "--quiet"], check=True)
        url = f"https://github.com/{repository}"
        subprocess.run([*git, "fetch", "--quiet", "--depth", "1", url, commit], check=True)
        subprocess.run([*git, "checkout", "--quiet", "FETCH_HEAD"], check=True)
    return path


def _lint(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "ddplint", "--format", "json", "--no-cache", "--exit-zero", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{folder}: {done.stderr}")
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def _findings(repository: str, outcome: dict[str, Any]) -> Iterator[Found]:
    for finding in outcome["findings"]:
        spot = Spot(repository, finding["path"], finding["line"], finding["code"])
        yield Found(spot, finding["confidence"], finding["message"])


def _table(found: Sequence[Found], labels: dict[Spot, Reading]) -> None:
    """Print, for each rule and in all, how many findings are right, wrong and unread."""
    counts: dict[str, Counter[str]] = {}
    for each in found:
        reading = labels.get(each.spot)
        verdict = "unread" if reading is None else "right" if reading.right else "wrong"
        for row in (each.spot.code, "all"):
            counts.setdefault(row, Counter())[verdict] += 1
    print(f"{'rule':8} {'findings':>8} {'right':>6} {'wrong':>6} {'unread':>6}  {'right of the read':>17}")
    for row, count in sorted(counts.items()):
        read = count["right"] + count["wrong"]
        share = f"{count['right'] / read:.3f}" if read else "-"
        print(f"{row:8} {count.total():8} {count['right']:6} {count['wrong']:6} {count['unread']:6}  {share:>17}")
    repositories = {each.spot.repository for each in found}
    print(f"{len(repositories)} repositories with findings")


def _write_unread(path: Path, found: Sequence[Found]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["repository", "path", "line", "code", "confidence", "message"])
        for each in found:
            spot = each.spot
            writer.writerow([spot.repository, spot.path, spot.line, spot.code, each.confidence, each.message])


if __name__ == "__main__":
    main()
