"""The file of events of this process."""

from __future__ import annotations

import itertools
import json
import os
import platform
import sys
import time
from types import TracebackType
from typing import Any

from ddplint.runtime.probe.places import Places
from ddplint.runtime.probe.plan import EVENTS, Plan, read_plan
from ddplint.trace.kinds import SCHEMA, Kind

_FAILURES_SHOWN = 3  # of one hook


class Recorder:
    """Appends events, one write each: what is written survives the process, however it ends."""

    def __init__(self, folder: str, role: str) -> None:
        self.folder = folder
        self.plan: Plan = read_plan(folder)
        self.places = Places(self.plan.root)
        self.role = role
        self.rank = _number("RANK")
        self.world_size = _number("WORLD_SIZE")
        self.written = 0
        self.first_step = False
        self.parked = False
        # What the main thread has entered and not left: call, operation.
        self.pending: list[tuple[int, str]] = []
        self._calls = itertools.count()
        self._failures: dict[str, int] = {}
        self._pid = -1
        self._descriptor = -1

    def write(self, kind: Kind, stack: list[list[object]] | None = None, **fields: Any) -> None:
        """Write an event at the user's line that is being run; ``stack`` names another one."""
        if stack is None:
            stack = self.places.stack(sys._getframe(1))
        record: dict[str, Any] = {"t": time.time(), "kind": kind.value, "at": stack[0][:2] if stack else None}
        if stack:
            record["stack"] = stack
        record.update(fields)
        self._append(record)

    def enter(self, kind: Kind, operation: str, **fields: Any) -> int:
        """Write that an operation is entered, and return the number of the call."""
        call = next(self._calls)
        self.pending.append((call, operation))
        self.write(kind, call=call, **fields)
        return call

    def leave(self, kind: Kind, call: int, error: BaseException | None = None, **fields: Any) -> None:
        """Write that an operation is left, by an error or in peace."""
        self.pending = [one for one in self.pending if one[0] != call]
        self.write(kind, of=call, error=None if error is None else str(error)[:500], **fields)

    def failed(self, hook: str, error: BaseException) -> None:
        """Write that a hook failed; the script never learns of it."""
        self._failures[hook] = count = self._failures.get(hook, 0) + 1
        if count <= _FAILURES_SHOWN:
            self.write(Kind.HOOK_FAILED, [], hook=hook, error=f"{type(error).__name__}: {error}"[:300], count=count)

    def error(self, error: BaseException, traceback: TracebackType | None) -> None:
        """Write that an exception ends the process."""
        stack = self.places.stack_of_error(traceback)
        self.write(Kind.ERROR, stack, error=type(error).__name__, text=str(error)[:2000])

    def _append(self, record: dict[str, Any]) -> None:
        if os.getpid() != self._pid:
            self._open()
        os.write(self._descriptor, (json.dumps(record, default=str) + "\n").encode())
        self.written += 1

    def _open(self) -> None:
        """Open a file of this process's own; a forked child does not write into its parent's."""
        self._pid = os.getpid()
        now = time.time()
        name = f"{self._pid}-{int(now * 1000)}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._descriptor = os.open(os.path.join(self.folder, EVENTS, name), flags, 0o644)
        head = {
            "schema": SCHEMA,
            "pid": self._pid,
            "parent": os.getppid(),
            "started": now,
            "role": self.role,
            "rank": self.rank,
            "local_rank": _number("LOCAL_RANK"),
            "world_size": self.world_size,
            "argv": command()[1:],
            "python": platform.python_version(),
            "host": platform.node(),
        }
        os.write(self._descriptor, (json.dumps(head) + "\n").encode())

    def begin(self) -> None:
        """Open the file, so that the process is known."""
        if os.getpid() != self._pid:
            self._open()


def command() -> list[str]:
    """Return the command line of this process; at the start of Python ``sys.argv`` is not complete."""
    known = getattr(sys, "orig_argv", None)
    if known:
        return list(known)
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [word.decode("utf-8", "surrogateescape") for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return list(getattr(sys, "argv", []))


def _number(variable: str) -> int | None:
    value = os.environ.get(variable, "")
    return int(value) if value.isdigit() else None
