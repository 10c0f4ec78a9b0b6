"""The end of every process of a run, however many there are and whoever started them."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ddplint.runtime.probe.plan import EVENTS

_PROC = Path("/proc")
_PATIENCE = 5.0  # seconds
_PAUSE = 0.05


def end_all(folder: Path) -> None:
    """Kill the processes of the run in a folder, and wait until they are gone."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        alive = set(processes(folder))
        if not alive:
            return
        for pid in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def processes(folder: Path) -> Iterator[int]:
    """Yield the living processes of a run.

    On Linux these are all whose environment names the run, elsewhere those that the probe began in.
    """
    if _PROC.is_dir():
        mark = b"DDPLINT_RUN=" + os.fsencode(folder) + b"\0"
        for entry in _PROC.iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid() and _is_marked(entry, mark):
                yield int(entry.name)
        return
    for path in (folder / EVENTS).glob("*.jsonl"):
        pid = json.loads(path.read_bytes().partition(b"\n")[0] or b"{}").get("pid")
        if pid is not None and _is_alive(pid):
            yield pid


def _is_marked(entry: Path, mark: bytes) -> bool:
    try:
        # The dead that nobody has waited for have no environment any more.
        return mark in (entry / "environ").read_bytes() + b"\0"
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
