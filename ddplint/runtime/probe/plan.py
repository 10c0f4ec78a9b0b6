"""What the supervisor asks of the probe: written by the one, read by the other, as a file in the run's folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

FILE = "plan.json"
# Folders of a run.
EVENTS, PULSES, PARKED, OVERLAY = "events", "pulses", "parked", "overlay"
# The supervisor holds a lock on this file as long as it lives.
ALIVE = "alive"


@dataclass
class Plan:
    """The settings of a run.

    ``root``: the folder of the user's project. ``steps``: batches of each pass over a data loader. ``epochs``: passes
    with optimizer steps. ``write``: let the script write. ``stand_in``: calls for CUDA go to the CPU. ``patience``:
    seconds that a rank waits for the others before it stops. ``pulse``: seconds between two signs of life. ``lines``:
    by absolute path, the lines to count.
    """

    root: str
    nproc: int
    steps: int
    epochs: int
    write: bool
    stand_in: bool
    patience: float
    pulse: float
    lines: dict[str, list[int]]

    def store(self, folder: str) -> None:
        """Write the plan into the folder of the run, and make its folders."""
        for name in (EVENTS, PULSES, PARKED, OVERLAY):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, FILE), "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)


def read_plan(folder: str) -> Plan:
    """Read the plan of a run."""
    with open(os.path.join(folder, FILE), encoding="utf-8") as file:
        return Plan(**json.load(file))
