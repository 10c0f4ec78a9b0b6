"""A function as one call runs it, and values followed back through what that call gives it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ddplint.semantics import Assigned, Call, Conditional, Expression, Logic, Name, Passed
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Origin, Resolver
from ddplint.semantics.structure import Binding, BindingKind, Function, Parameter

# Calls inside calls that are told apart; a function further in is looked at as if anybody could have called it.
DEEPEST_FRAME = 8
# Callers whose ways to run a function are looked at one by one.
MOST_WAYS = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """A function as one call runs it; ``outer`` is how the function around that call runs, None: in any way."""

    function: Function
    call: Call
    outer: Frame | None

    @property
    def depth(self) -> int:
        return 1 if self.outer is None else self.outer.depth + 1


Source: TypeAlias = tuple[Origin, Frame | None]


class Frames:
    """Follows values back to what made them, through the arguments of the calls that are known."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def enter(self, call: Call, frame: Frame | None) -> Frame | None:
        """Return how the function that a call runs is run by it, None when there is none or it lies too deep."""
        function = self._resolver.function_of(call)
        if function is None or (frame is not None and frame.depth >= DEEPEST_FRAME):
            return None
        return Frame(function, call, frame)

    def ways(self, function: Function | None) -> Iterator[Frame | None]:
        """Yield the ways in which a function can be run: in any way, then by each of the first callers in sight."""
        yield None
        if function is not None and function.parameters:
            calls, _ = self._resolver.linker.callers(function)
            yield from (Frame(function, call, None) for call in calls[:MOST_WAYS])

    def sources(self, value: Expression, frame: Frame | None) -> tuple[Source, ...]:
        """Return what can have made a value, each with the frame in which its own parts are to be looked up.

        Names, conditionals, ``or`` and the values that functions of the project return are followed. A parameter
        leads to the argument of the frame's call, without a frame to the arguments of every call.
        """
        return tuple(dict.fromkeys(self._follow(value, frame, set())))

    def given(self, parameter: Parameter, frame: Frame | None) -> tuple[Expression, Frame | None] | None:
        """Return what the frame's call gives for a parameter of its function, with the frame of that expression."""
        if frame is None or frame.function is not parameter.function:
            return None
        argument = self._resolver.bound(frame.call, frame.function).get(parameter.name)
        if argument is not None:
            return argument, frame.outer
        starred = any(given.star for given in frame.call.arguments)
        return None if parameter.default is None or starred else (parameter.default, None)

    def _follow(self, value: Expression, frame: Frame | None, seen: set[tuple[int, Frame | None]]) -> Iterator[Source]:
        if (id(value), frame) in seen:
            return
        seen.add((id(value), frame))
        if isinstance(value, Name):
            for binding in reaching(value.id, value) or ():
                yield from self._of_binding(value, binding, frame, seen)
            if not reaching(value.id, value):
                yield from ((origin, None) for origin in self._resolver.origins(value))
        elif isinstance(value, Conditional | Logic):
            parts = (value.then, value.otherwise) if isinstance(value, Conditional) else value.operands
            for part in parts:
                yield from self._follow(part, frame, seen)
        elif isinstance(value, Assigned) or (isinstance(value, Passed) and value.kind == "await"):
            yield from () if value.value is None else self._follow(value.value, frame, seen)
        elif isinstance(value, Call):
            yield from self._of_call(value, frame, seen)
        else:
            yield value, frame

    def _of_call(self, call: Call, frame: Frame | None, seen: set[tuple[int, Frame | None]]) -> Iterator[Source]:
        inside = self.enter(call, frame)
        if (
            inside is None
            or inside.function.yields
            or not inside.function.returns
            or inside.function.name == "__init__"
        ):
            yield call, frame
            return
        for value in inside.function.returns:
            yield from self._follow(value, inside, seen)

    def _of_binding(
        self, name: Name, binding: Binding, frame: Frame | None, seen: set[tuple[int, Frame | None]]
    ) -> Iterator[Source]:
        inside = frame if binding.region.scope.function is name.scope.function else None
        if binding.kind is BindingKind.PARAMETER and binding.parameter is not None:
            given = self.given(binding.parameter, inside)
            if given is not None:
                yield from self._follow(*given, seen)
            else:
                yield from ((origin, None) for origin in self._resolver.given(binding.parameter))
        elif binding.kind in (BindingKind.ASSIGNMENT, BindingKind.WITH) and binding.value is not None:
            if binding.path:
                yield from ((origin, None) for origin in self._resolver.origins(name))
            else:
                yield from self._follow(binding.value, inside, seen)
        else:
            yield from ((origin, None) for origin in self._resolver.origins(name))
