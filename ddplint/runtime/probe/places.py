"""Where in the user's code something happens."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import FrameType, TracebackType

_DEEPEST = 400  # frames that are looked at
_MOST = 8  # frames that are kept
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # the package ddplint


class Places:
    """Tells the files of the user's project from all others. ``root`` is its folder."""

    def __init__(self, root: str) -> None:
        self._root = os.path.join(os.path.realpath(root), "")
        self._start = os.getcwd()
        self._known: dict[str, str | None] = {}
        installed = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
        # An environment within the project is not the project.
        self._others = tuple(
            os.path.join(os.path.realpath(path), "") for path in [*filter(None, installed), _OURS] if path
        )

    def path(self, filename: str) -> str | None:
        """Return the absolute path of a file of the user's, None for any other."""
        if filename not in self._known:
            self._known[filename] = self._judge(filename)
        return self._known[filename]

    def _judge(self, filename: str) -> str | None:
        if filename.startswith("<"):
            return None
        path = os.path.realpath(os.path.join(self._start, filename))
        is_users = path.startswith(self._root) and not path.startswith(self._others) and "site-packages" not in path
        return path if is_users else None

    def stack(self, frame: FrameType | None) -> list[list[object]]:
        """Return the user's frames from a frame outward, innermost first: path, line, function."""
        found: list[list[object]] = []
        for _ in range(_DEEPEST):
            if frame is None or len(found) == _MOST:
                break
            path = self.path(frame.f_code.co_filename)
            if path is not None:
                found.append([path, frame.f_lineno or frame.f_code.co_firstlineno, frame.f_code.co_name])
            frame = frame.f_back
        return found

    def stack_of_error(self, traceback: TracebackType | None) -> list[list[object]]:
        """Return the user's frames of an error, innermost first."""
        found: list[list[object]] = []
        while traceback is not None:
            path = self.path(traceback.tb_frame.f_code.co_filename)
            if path is not None:
                found.append([path, traceback.tb_lineno, traceback.tb_frame.f_code.co_name])
            traceback = traceback.tb_next
        return found[::-1][:_MOST]

    def is_called_by_user(self, frame: FrameType | None) -> bool:
        """Whether the nearest frame that is not ours is the user's."""
        while frame is not None and frame.f_code.co_filename.startswith(_OURS):
            frame = frame.f_back
        return frame is not None and self.path(frame.f_code.co_filename) is not None


def here() -> FrameType:
    """Return the frame of the caller."""
    return sys._getframe(1)
