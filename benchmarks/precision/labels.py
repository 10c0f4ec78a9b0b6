"""The recorded labels: one reading of one finding a line."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

LABELS = Path(__file__).with_name("labels.csv")
REPOSITORIES = Path(__file__).with_name("repositories.csv")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a finding is: the repository (owner/name), the file, the line and the code of the rule."""

    repository: str
    path: str
    line: int
    code: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader said of a finding, and why."""

    right: bool
    why: str


def read_labels() -> dict[Spot, Reading]:
    """Return every reading, by its spot; raises ValueError for a line that is neither right nor wrong."""
    readings = {}
    with LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["verdict"] not in ("right", "wrong"):
                raise ValueError(f"{LABELS}: {row['verdict']!r} is neither right nor wrong")
            spot = Spot(row["repository"], row["path"], int(row["line"]), row["code"])
            readings[spot] = Reading(row["verdict"] == "right", row["why"])
    return readings


def read_repositories() -> dict[str, str]:
    """Return the commit at which each repository was read."""
    with REPOSITORIES.open(encoding="utf-8", newline="") as file:
        return {row["repository"]: row["commit"] for row in csv.DictReader(file)}
