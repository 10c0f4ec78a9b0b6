"""What a function does: its own calls, and those of the helpers in its file, as if they stood where they are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Constant, Expression, Name, Script
from ddplint.semantics.conditions import contradict
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import UNKNOWN, Origin
from ddplint.semantics.shown import written
from ddplint.semantics.structure import Function, Loop, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Helpers in helpers that are looked into, and calls of one function that are listed.
_DEEPEST = 2
_MOST = 400
# Regions that always run when what is around them does.
_ALWAYS = frozenset({RegionKind.MODULE, RegionKind.FUNCTION, RegionKind.CLASS, RegionKind.WITH})


@dataclass(frozen=True, slots=True)
class Act:
    """A call, and the way to it: ``path`` begins in the function that is looked at and ends with the call itself."""

    path: tuple[Call, ...]

    @property
    def call(self) -> Call:
        return self.path[-1]

    @property
    def place(self) -> Call:
        """The call in the function itself: this one, or that of the helper."""
        return self.path[0]

    @property
    def order(self) -> tuple[int, ...]:
        return tuple(call.order for call in self.path)

    def chain(self) -> Iterator[Region]:
        """Yield the regions around the call, from the inside out, on to those around the calls of its helpers."""
        return (region for call in reversed(self.path) for region in call.region.chain())

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(region.loop for region in self.chain() if region.loop is not None)

    def excludes(self, other: Act) -> bool:
        """Whether no pass goes through both."""
        return any(contradict(one.region, another.region) for one in self.path for another in other.path)

    def runs_whenever(self, other: Act) -> bool:
        """Whether no more conditions stand around this call than around another one."""
        around = set(map(id, other.chain()))
        return all(region.kind in _ALWAYS or id(region) in around for region in self.chain())


class Acts:
    """Lists the acts of functions."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[int, int], tuple[Act, ...]] = {}

    def of(self, function: Function | None, script: Script) -> tuple[Act, ...]:
        """Return the acts of a function, None: of the code outside all functions, in the order in which they run."""
        key = (id(function), id(script))
        if key not in self._known:
            acts = [Act(path) for path in self._paths(function, script, ())]
            self._known[key] = tuple(sorted(acts[:_MOST], key=lambda act: act.order))
        return self._known[key]

    def helper(self, call: Call) -> Function | None:
        """Return the function whose calls are listed where a call runs it: one of the same file."""
        function = self._project.resolver.function_of(call)
        return function if function is not None and function.script is call.scope.script else None

    def outside(self, act: Act, value: Expression) -> Expression:
        """Return what the function that is looked at gives for a value that stands in one of its helpers."""
        for call in reversed(act.path[:-1]):
            function = self.helper(call)
            bindings = reaching(value.id, value) if isinstance(value, Name) else None
            if function is None or not bindings or any(binding.parameter is None for binding in bindings):
                return value
            given = self._project.resolver.bound(call, function).get(bindings[0].name)
            if given is None:
                return value
            value = given
        return value

    def same(self, one: Expression, other: Expression) -> bool:
        """Whether two expressions can be one object: something made both, or, where that is not known, their text."""
        makers, others = self._makers(one), self._makers(other)
        if makers & others:
            return True
        made = [any(isinstance(origin, Call) for origin in known) for known in (makers, others)]
        return not all(made) and written(one) == written(other)

    def _makers(self, expression: Expression) -> set[Origin]:
        origins = self._project.origins(expression)
        return {origin for origin in origins if origin is not UNKNOWN and not isinstance(origin, Constant)}

    def _paths(self, function: Function | None, script: Script, way: tuple[Call, ...]) -> Iterator[tuple[Call, ...]]:
        for call in script.calls_in(function):
            yield (*way, call)
            helper = self.helper(call) if len(way) < _DEEPEST else None
            if helper is not None and helper is not function:
                yield from self._paths(helper, script, (*way, call))
