"""Process groups of processes that the program starts itself, and that are not told where to meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Expression, Script
from ddplint.semantics.arguments import Missing

if TYPE_CHECKING:
    from ddplint.project.project import Project

_INIT = "torch.distributed.init_process_group"
_FROM_ENVIRONMENT = frozenset[object]({"env://", None})
_PLACE = ("MASTER_ADDR", "MASTER_PORT")
_NUMBERS = {"RANK": "rank", "WORLD_SIZE": "world_size"}


@dataclass(frozen=True, slots=True)
class MissingPlace:
    """A call that makes a group, what starts its processes, and the variables that nobody sets."""

    start: Call
    spawner: Call
    variables: tuple[str, ...]


class MeetingPlaces:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def missing(self, script: Script) -> Iterator[MissingPlace]:
        """Yield the groups that read their meeting place from variables which no file of the program mentions."""
        for start in self._project.calls(script, _INIT):
            spawners = [] if start.scope.function is None else self._project.spawners(start.scope.function)
            if spawners and self._reads_environment(start):
                variables = tuple(name for name in self._wanted(start) if not self._is_mentioned(script, name))
                if variables:
                    yield MissingPlace(start, spawners[0], variables)

    def _reads_environment(self, start: Call) -> bool:
        if self._project.argument(start, "store") is not Missing.ABSENT:
            return False
        method = self._project.argument(start, "init_method")
        if isinstance(method, Expression):
            methods = self._project.constants(method)
            return methods is not None and methods <= _FROM_ENVIRONMENT
        return method is Missing.ABSENT

    def _wanted(self, start: Call) -> Iterator[str]:
        """Yield the variables that a group reads: the place in any case, the numbers that it is not given."""
        yield from _PLACE
        for variable, parameter in _NUMBERS.items():
            if self._project.argument(start, parameter) is Missing.ABSENT:
                yield variable

    def _is_mentioned(self, script: Script, variable: str) -> bool:
        words = [f"{quote}{variable}{quote}".encode() for quote in "'\""]
        return self._project.mentions(script, [*words, f"{variable}=".encode()])
