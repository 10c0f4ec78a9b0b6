"""A run from its start to the end of its last process."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from ddplint.runtime.ends import end_all
from ddplint.runtime.launch import LOGS, Launch, codes_told, last_lines
from ddplint.runtime.probe.plan import ALIVE, PULSES
from ddplint.trace.outcome import FILE, Ending

_PAUSE = 0.1  # seconds
_AFTER_FAILURE = 5.0  # seconds that the other ranks get when one has failed
_LINES = 20  # of the output of each rank that are kept
_STANDING = ("running", "compiling")
# Operations that may compute for long, the share of a core that tells so, and the seconds over which it is taken.
_COMPUTING = ("forward", "forward of DistributedDataParallel", "backward", "construction of DistributedDataParallel")
_BUSY = 0.1
_LONG_ENOUGH = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: of the whole run; without any movement, after and before the first optimizer step."""

    run: float
    stall: float
    start_stall: float


@dataclass(frozen=True, slots=True)
class _Seen:
    """A state in which a process was seen, since when (monotonic), and its time and CPU time then."""

    state: tuple[Any, ...]
    since: float
    time: float
    cpu: float


@dataclass(slots=True)
class Watch:
    """What is known of the signs of life of the ranks."""

    seen: dict[int, _Seen] = field(default_factory=dict)

    def is_stalled(self, pulses: Sequence[Mapping[str, Any]], limits: Limits, now: float) -> bool:
        """Whether every rank stands in an operation that waits for others, and has not moved for too long.

        ``pulses`` are those of the ranks that live, ``now`` is in seconds.
        """
        for pulse in pulses:
            if self._moves(pulse):
                state = _state(pulse)
                self.seen[pulse["pid"]] = _Seen(state, now, pulse["time"], pulse["cpu"])
        limit = limits.stall if any(pulse["stepped"] for pulse in pulses) else limits.start_stall
        return bool(pulses) and all(
            pulse["pending"] is not None
            and pulse["phase"] in _STANDING
            and now - self.seen[pulse["pid"]].since >= limit
            for pulse in pulses
        )

    def _moves(self, pulse: Mapping[str, Any]) -> bool:
        seen = self.seen.get(pulse["pid"])
        if seen is None or seen.state != _state(pulse):
            return True
        # Whoever waits for others needs no CPU; a pass through a large model does, for as long as it takes.
        elapsed = pulse["time"] - seen.time
        computes = pulse["cpu"] - seen.cpu > _BUSY * elapsed
        return pulse["pending"] in _COMPUTING and elapsed > _LONG_ENOUGH and bool(computes)


def _state(pulse: Mapping[str, Any]) -> tuple[Any, ...]:
    return pulse["written"], pulse["pending"], pulse["stack"]


class Interrupted(Exception):
    """The user ended the run."""


def supervise(launches: Sequence[Launch], folder: Path, cwd: Path, limits: Limits) -> Ending:
    """Run the commands of a run until it ends or has to be ended; no process outlives this call.

    The outcome is written into the folder. Raises KeyboardInterrupt when the run was interrupted, after that.
    """
    began = time.monotonic()
    ending = Ending.INTERRUPTED
    children: list[tuple[Launch, subprocess.Popen[bytes]]] = []
    with _alive(folder), _signals():
        try:
            (folder / LOGS).mkdir(exist_ok=True)
            children.extend((launch, _started(launch, cwd)) for launch in launches)
            ending = _wait(children, folder, limits, began)
        except Interrupted:
            ending = Ending.INTERRUPTED
        finally:
            pulses = list(_pulses(folder))
            codes = {_key(launch): code for launch, child in children if (code := child.poll()) is not None}
            codes.update(codes_told(folder))
            for _, child in children:
                if child.poll() is None:
                    child.kill()
            end_all(folder)
            for _, child in children:
                child.wait()
            _store(folder, ending, time.monotonic() - began, codes, pulses)
    if ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return ending


def _wait(
    children: Sequence[tuple[Launch, subprocess.Popen[bytes]]], folder: Path, limits: Limits, began: float
) -> Ending:
    watch = Watch()
    failed_at: float | None = None
    while True:
        codes = [child.poll() for _, child in children]
        now = time.monotonic()
        if all(code is not None for code in codes):
            return Ending.FAILED if any(codes) else Ending.FINISHED
        if failed_at is None and any(codes):
            failed_at = now
        if failed_at is not None and now - failed_at > _AFTER_FAILURE:
            return Ending.FAILED
        if now - began > limits.run:
            return Ending.TIME_LIMIT
        if failed_at is None and watch.is_stalled(list(_living(folder)), limits, now):
            return Ending.HANG
        time.sleep(_PAUSE)


def _started(launch: Launch, cwd: Path) -> subprocess.Popen[bytes]:
    with open(launch.log, "wb") as log:
        return subprocess.Popen(
            launch.command,
            cwd=cwd,
            env=dict(launch.environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _pulses(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((folder / PULSES).iterdir()):
        if path.suffix:
            continue  # being written
        try:
            yield json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue


def _living(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the signs of life of the ranks that have not ended."""
    for pulse in _pulses(folder):
        if pulse["role"] == "rank" and pulse["rank"] is not None and _lives(pulse["pid"]):
            yield pulse


def _store(folder: Path, ending: Ending, seconds: float, codes: dict[int, int], pulses: Sequence[Any]) -> None:
    content = {
        "ending": ending.value,
        "seconds": round(seconds, 2),
        "codes": codes,
        "pulses": pulses,
        "output": last_lines(folder, _LINES),
    }
    (folder / FILE).write_text(json.dumps(content), encoding="utf-8")


def _key(launch: Launch) -> int:
    return -1 if launch.rank is None else launch.rank


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return True
    return state != b"Z"


@contextmanager
def _alive(folder: Path) -> Iterator[None]:
    """Hold the lock by which the processes of a run know that somebody watches over them."""
    with open(folder / ALIVE, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _signals() -> Iterator[None]:
    """Turn the signals that end a program into an exception, once; a second one does not break the cleaning up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    raised = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal raised
        if not raised:
            raised = True
            raise Interrupted

    names = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(name, interrupt) for name in names]
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)
