"""How a process group ends: what leads to its start from outside functions, and whether anything destroys it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Script
from ddplint.semantics.structure import Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_DESTROY = "destroy_process_group"
_DEEPEST = 6


class GroupEnds:
    """Answers whether process groups are destroyed before the process ends."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def may_be_destroyed(self, script: Script) -> bool:
        """Whether any file of the program speaks of destroying a group, other than where an error was caught."""
        for path in self._project.program_of(script):
            if _DESTROY.encode() in self._project.files.content(path):
                other = self._project.script(path)
                if other is None or any(map(_is_normal, _mentions(other))):
                    return True
        return False

    def entries(self, at: Call, depth: int = 0) -> Iterator[Call]:
        """Yield the calls outside functions of the same file that lead to a call, also in processes that they start."""
        function = at.scope.function
        if function is None:
            yield at
        elif depth < _DEEPEST:
            for call in self._project.callers(function)[0]:
                if call.scope.script is at.scope.script and call.scope.function is not function:
                    yield from self.entries(call, depth + 1)


def _mentions(script: Script) -> Iterator[Region]:
    yield from (attribute.region for attribute in script.attributes if attribute.name == _DESTROY)
    yield from (name.region for name in script.names if name.id == _DESTROY)


def _is_normal(region: Region) -> bool:
    return not any(outer.kind is RegionKind.HANDLER for outer in region.chain())
