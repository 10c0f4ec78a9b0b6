"""Traces for tests, written as the probe writes them and read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ddplint.findings import Place
from ddplint.source import Position
from ddplint.trace import Trace

FOLDER = "/project"
Record = dict[str, Any]


def event(kind: str, line: int | None = None, *callers: int, **fields: Any) -> Record:
    """An event at a line of train.py, called from other lines of it."""
    stack = [[f"{FOLDER}/train.py", number, "main"] for number in (line, *callers) if number is not None]
    return {"kind": kind, "at": stack[0][:2] if stack else None, "stack": stack, **fields}


def lines(first: int, last: int | None = None, path: str = "train.py") -> Place:
    """A stretch of a file."""
    return Place(path, Position(first, 1), Position(last or first, 1))


def outcome(ending: str, pulses: Sequence[Record] = ()) -> Record:
    """What the supervisor says of the end."""
    return {"ending": ending, "seconds": 1.0, "codes": {}, "pulses": list(pulses), "output": {}}


def pulse(rank: int, pending: str | None, line: int) -> Record:
    """The last sign of life of a rank."""
    stack = [[f"{FOLDER}/train.py", line, "main"]]
    about = {"pid": 100 + rank, "rank": rank, "time": 9.0, "phase": "running"}
    return {**about, "pending": pending, "stack": stack, "inside": ""}


def trace(folder: Path, *ranks: Sequence[Record], end: Record | None = None, role: str = "rank") -> Trace:
    """The trace of a run: for each rank its events, in order; the ranks take turns."""
    (folder / "events").mkdir()
    for rank, events in enumerate(ranks):
        head = {
            "schema": 1, "pid": 100 + rank, "parent": 1, "started": float(rank), "role": role, "rank": rank,
            "local_rank": rank, "world_size": len(ranks), "argv": ["train.py"], "python": "3.11.2", "host": "box",
        }  # fmt: skip
        written = [head, *({"t": number + rank / 10, **one} for number, one in enumerate(events))]
        (folder / "events" / f"{100 + rank}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in written))
    if end is not None:
        (folder / "outcome.json").write_text(json.dumps(end))
    return Trace.from_folder(folder, Path(FOLDER))
