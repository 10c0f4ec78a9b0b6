"""The code in other files that a script comes to: the files that it imports, and what it calls in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ddplint.project import Project
from ddplint.project.reach import SEARCHED
from ddplint.semantics import Call, Script


class ReachedCode:
    """``unread``: files that the script needs and that can't be parsed. ``complete``: whether all calls were found."""

    def __init__(self, project: Project, script: Script) -> None:
        home = project.scripts.path_of(script)
        needed = () if home is None else project.files.needed_by(home)
        found = {path: project.script(path) for path in needed if path != home}
        self.unread: tuple[Path, ...] = tuple(path for path, other in found.items() if other is None)
        self._script = script
        self._others = [other for other in found.values() if other is not None]
        self._reached = list(project.reach.onward(script.calls))
        self.complete = len(self._reached) < SEARCHED

    def calls(self) -> Iterator[Call]:
        """Yield the calls outside of the script: those that are reached, and those that an import runs."""
        yield from (call for call in self._reached if call.scope.script is not self._script)
        for other in self._others:
            yield from other.calls_in(None)
