"""How often lines of the user's code are reached: those that findings speak of, and no others."""

from __future__ import annotations

import atexit
import sys
import threading
from types import CodeType, FrameType
from typing import Any

from ddplint.runtime.probe.recorder import Recorder
from ddplint.trace.kinds import Kind


class Lines:
    """Counts the lines of a plan. Code that holds none of them is not slowed down line by line."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._wanted = {path: frozenset(lines) for path, lines in recorder.plan.lines.items()}
        self._known: dict[CodeType, tuple[str, frozenset[int]]] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._told: dict[tuple[str, int], int] = {}

    def watch(self) -> None:
        """Begin to count."""
        if not self._wanted:
            return
        atexit.register(self.flush)
        if sys.version_info >= (3, 12):
            self._monitor(sys.monitoring)
        else:
            threading.settrace(self._called)
            sys.settrace(self._called)

    def flush(self) -> None:
        """Write the counts that were not written yet."""
        for place, count in self._counts.items():
            if self._told.get(place) != count:
                self._tell(place, count)

    def _reached(self, path: str, line: int) -> None:
        place = (path, line)
        self._counts[place] = count = self._counts.get(place, 0) + 1
        if not count & (count - 1):
            self._tell(place, count)

    def _tell(self, place: tuple[str, int], count: int) -> None:
        self._told[place] = count
        self._recorder.write(Kind.LINE, [[place[0], place[1], ""]], count=count)

    def _of(self, code: CodeType) -> tuple[str, frozenset[int]]:
        """Return the path of a code object, and the lines in it that are to be counted."""
        if code not in self._known:
            path = self._recorder.places.path(code.co_filename)
            wanted = self._wanted.get(path or "", frozenset())
            own = {line for _, _, line in code.co_lines() if line} if wanted and hasattr(code, "co_lines") else wanted
            self._known[code] = (path or "", wanted & own)
        return self._known[code]

    def _called(self, frame: FrameType, event: str, _arg: Any) -> Any | None:
        path, lines = self._of(frame.f_code)
        if event != "call" or not lines:
            return None

        def traced(frame: FrameType, event: str, _arg: Any) -> Any:
            if event == "line" and frame.f_lineno in lines:
                self._reached(path, frame.f_lineno)
            return traced

        return traced

    def _monitor(self, monitoring: Any) -> None:
        tool = next(number for number in range(5, -1, -1) if monitoring.get_tool(number) is None)
        monitoring.use_tool_id(tool, "ddplint")
        events = monitoring.events

        def started(code: CodeType, _offset: int) -> Any:
            if self._of(code)[1]:
                monitoring.set_local_events(tool, code, events.LINE)
            return monitoring.DISABLE

        def line(code: CodeType, number: int) -> Any:
            path, lines = self._of(code)
            if number not in lines:
                return monitoring.DISABLE
            self._reached(path, number)
            return None

        monitoring.register_callback(tool, events.PY_START, started)
        monitoring.register_callback(tool, events.LINE, line)
        monitoring.set_events(tool, events.PY_START)
