"""Whether the ranks exchange a value, so that they agree upon it afterwards."""

from __future__ import annotations

from ddplint.project.collectives import COLLECTIVES, Collectives
from ddplint.project.dependence import Dependence
from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Function, Parameter

# Collectives that carry values; the others only wait, or make and end groups.
_CARRYING = COLLECTIVES - {
    "barrier",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "init_process_group",
    "destroy_process_group",
}
# Functions inside functions into which a value is followed.
_DEEPEST = 4


class Exchanges:
    """Answers for the values of a project."""

    def __init__(self, resolver: Resolver, collectives: Collectives, dependence: Dependence) -> None:
        self._resolver = resolver
        self._collectives = collectives
        self._dependence = dependence
        self._calls: dict[int, dict[int, list[Call]]] = {}
        self._taken: dict[tuple[int, str], bool] = {}

    def gives(self, call: Call) -> bool:
        """Whether the value of a call comes out of a collective, or out of a function that has one."""
        return not _CARRYING.isdisjoint(self._collectives.of_call(call))

    def agree_on(self, read: Name) -> bool:
        """Whether a value goes through a collective between where a name gets it and where it is read."""
        taking = [call for call in self._in(read.scope.function, read.scope.script) if self._takes(call, read)]
        return any(
            _lies_between(binding.order, call.order, read.order)
            for binding in (reaching(read.id, read) or () if taking else ())
            for call in taking
        )

    def touch(self, read: Name | Attribute) -> bool:
        """Whether a collective takes a variable anywhere in the function around a place."""
        return any(self._takes(call, read) for call in self._in(read.scope.function, read.scope.script))

    def _in(self, function: Function | None, script: Script) -> list[Call]:
        """Return the calls in a function that come to collectives which carry values."""
        if id(script) not in self._calls:
            index = self._calls[id(script)] = {}
            for call in script.calls:
                if self.gives(call):
                    index.setdefault(id(call.scope.function), []).append(call)
        return self._calls[id(script)].get(id(function), [])

    def _takes(self, call: Call, read: Name | Attribute, depth: int = 0) -> bool:
        """Whether a call puts a variable through a collective, itself or inside the function that it runs."""
        if self._collectives.own(call) is not None:
            return _mentions(call, read)
        function = self._collectives.runs(call)
        if function is None or not _mentions(call, read):
            return False
        owner = call.callee.base if isinstance(call.callee, Attribute) else None
        given = self._resolver.bound(call, function)
        return any(
            self._hands_on(function, parameter, depth)
            for parameter in function.parameters
            if (parameter.name in given and _mentions(given[parameter.name], read))
            or (parameter.index == 0 and function.cls is not None and owner is not None and _mentions(owner, read))
        )

    def _hands_on(self, function: Function, parameter: Parameter, depth: int) -> bool:
        """Whether a function puts what it gets for a parameter, or something made of it, through a collective."""
        key = (id(function), parameter.name)
        if key not in self._taken:
            self._taken[key] = False  # what a function that calls itself gets
            self._taken[key] = depth < _DEEPEST and any(
                isinstance(piece, Name)
                and any(binding.parameter is parameter for binding in reaching(piece.id, piece) or ())
                and (self._collectives.own(call) is not None or self._takes(call, piece, depth + 1))
                for call in self._in(function, function.script)
                for piece, _ in self._dependence.pieces(call)
            )
        return self._taken[key]


def _mentions(expression: Expression, read: Name | Attribute) -> bool:
    if isinstance(read, Name):
        return any(isinstance(part, Name) and part.id == read.id for part in expression.walk())
    return any(isinstance(part, Attribute) and part.name == read.name for part in expression.walk())


def _lies_between(start: int, middle: int, end: int) -> bool:
    """Whether a place lies on the way from one place to another, around a loop when the other comes first."""
    return start < middle < end if start < end else middle > start or middle < end
