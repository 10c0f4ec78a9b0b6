"""Signs of life: where the main thread is, twice a second, and the end of a process whose supervisor is gone."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from types import FrameType
from typing import Any

from ddplint.runtime.probe.plan import ALIVE, PULSES
from ddplint.runtime.probe.recorder import Recorder

_LOADING = ("_next_data", "_get_data", "_try_get_data", "_process_next_batch")


class Pulse:
    """A thread beside the script. ``recorder`` is None in processes that are only to end with the supervisor."""

    def __init__(self, folder: str, period: float, recorder: Recorder | None) -> None:
        self._folder = folder
        self._period = period
        self._recorder = recorder

    def start(self) -> None:
        """Start the thread, and start it again in children that are forked."""
        self._start()
        os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        main = threading.get_ident()
        threading.Thread(target=self._beat, args=(main,), name="ddplint", daemon=True).start()

    def _beat(self, main: int) -> None:
        while True:
            # Nothing may end this thread: a process without it would outlive its supervisor.
            with contextlib.suppress(BaseException):
                if self._is_orphaned():
                    os._exit(1)
                if self._recorder is not None:
                    self._try_to_write(self._recorder, main)
            time.sleep(self._period)

    def _try_to_write(self, recorder: Recorder, main: int) -> None:
        try:
            self._write(recorder, main)
        except Exception as error:
            recorder.failed("pulse", error)

    def _is_orphaned(self) -> bool:
        """Whether the supervisor has ended, however it did: the system takes its lock away."""
        import fcntl

        try:
            descriptor = os.open(os.path.join(self._folder, ALIVE), os.O_RDONLY)
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def _write(self, recorder: Recorder, main: int) -> None:
        frame = sys._current_frames().get(main)
        pending = recorder.pending[-1:]
        content: dict[str, Any] = {
            "pid": os.getpid(),
            "rank": recorder.rank,
            "role": recorder.role,
            "time": time.time(),
            "cpu": time.process_time(),
            "written": recorder.written,
            "stepped": recorder.first_step,
            "phase": "parked" if recorder.parked else _phase(frame),
            "pending": pending[0][1] if pending else None,
            "stack": recorder.places.stack(frame),
            "inside": "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_code.co_name}",
        }
        path = os.path.join(recorder.folder, PULSES, str(os.getpid()))
        descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            os.write(descriptor, json.dumps(content).encode())
        finally:
            os.close(descriptor)
        os.replace(f"{path}.new", path)


def _phase(frame: FrameType | None) -> str:
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return "importing"
        if name.endswith(("torch/utils/data/dataloader.py",)) and frame.f_code.co_name in _LOADING:
            return "loading"
        if "/torch/_dynamo/" in name or "/torch/_inductor/" in name:
            return "compiling"
        frame = frame.f_back
    return "running"
