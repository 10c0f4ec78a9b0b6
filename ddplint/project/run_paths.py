"""Paths of a run that each rank draws for itself, from the clock or by chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Expression, Script

if TYPE_CHECKING:
    from ddplint.project.project import Project

_MAKES = frozenset({"os.makedirs", "os.mkdir", "logging.FileHandler"})
_NAMES_OF_PATH = frozenset({None, "name", "path", "filename"})


@dataclass(frozen=True, slots=True)
class RunPath:
    """A call that draws a part of a path, and a call by which all ranks make or write what has this path."""

    drawn: Call
    use: Call
    path: Expression


class RunPaths:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[RunPath]:
        """Yield the paths that all ranks use in a script, each time with the first use of what was drawn for them."""
        told: set[int] = set()
        for use, path in sorted(self._uses(script), key=lambda found: found[0].order):
            for drawn in self._project.same_values.drawn(path):
                if id(drawn) not in told and self._is_of_all(use) and self._is_of_all(drawn):
                    told.add(id(drawn))
                    yield RunPath(drawn, use, path)

    def _is_of_all(self, call: Call) -> bool:
        return self._project.processes.all_come_to(call, early=True)

    def _uses(self, script: Script) -> Iterator[tuple[Call, Expression]]:
        """Yield the calls of a script that make a folder or write a file, with their paths."""
        yield from ((write.call, write.path) for write in self._project.writes.of(script))
        for call in script.calls:
            first = call.arguments[0] if call.arguments else None
            if self._project.names(call.callee) <= _MAKES:
                if first is not None and not first.star and first.keyword in _NAMES_OF_PATH:
                    yield call, first.value
            elif isinstance(call.callee, Attribute) and call.callee.name == "mkdir":
                yield call, call.callee.base
