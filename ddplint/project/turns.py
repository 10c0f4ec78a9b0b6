"""Code through which one rank goes first while the others wait, so that they find done what it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Expression, Script
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.structure import Function, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Functions inside functions, or around them, that are looked into.
_DEEPEST = 3


class Turns:
    """Finds the two barriers of this idiom: ``if rank != 0: barrier()`` before the code, ``if rank == 0:`` after it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[int, int], list[tuple[Call, Region]]] = {}

    def is_in_turn(self, at: Expression) -> bool:
        """Whether an expression stands between the two barriers, as far as its own function tells."""
        beside = [
            call
            for call, tested in self._waits(at.scope.script, at.scope.function)
            if not at.region.within(tested) and not call.region.excludes(at.region)
        ]
        before = [call for call in beside if call.order < at.order]
        return len(before) % 2 == 1 and len(before) < len(beside)

    def first_wait(self, at: Expression) -> Call | None:
        """Return the barrier at which the others wait while one rank goes through a place, None when none do."""
        if self.is_in_turn(at):
            return self._waits(at.scope.script, at.scope.function)[0][0]
        manager = self.manager(at)
        function = None if manager is None else self._project.resolver.function_of(manager)
        return None if function is None else self._waits(function.script, function)[0][0]

    def manager(self, at: Expression) -> Call | None:
        """Return the context of a ``with`` block around a place that has the two barriers around what is in it."""
        contexts = (context for region in at.region.chain() for context in region.contexts)
        calls = (context for context in contexts if isinstance(context, Call))
        return next((call for call in calls if self._lets_first(self._project.resolver.function_of(call))), None)

    def _lets_first(self, function: Function | None) -> bool:
        return function is not None and bool(function.yields) and len(self._waits(function.script, function)) > 1

    def was_prepared(self, call: Call) -> bool:
        """Whether some ranks call the same before all do, while the others wait for them in a collective.

        It may stand beside the call, or beside a call of its function.
        """
        return self._is_prepared(call, self._project.names(call.callee) - {UNKNOWN_NAME}, 0)

    def _is_prepared(self, call: Call, names: frozenset[str], depth: int) -> bool:
        if self._is_prepared_beside(call, names):
            return True
        function = call.scope.function
        if function is None or depth > _DEEPEST:
            return False
        return any(self._is_prepared(caller, names, depth + 1) for caller in self._project.callers(function)[0])

    def _is_prepared_beside(self, call: Call, names: frozenset[str]) -> bool:
        earlier = [one for one in call.scope.script.calls_in(call.scope.function) if one.order < call.order]
        first = [one.order for one in earlier if self._is_tested(one, call) and self._makes(one, names)]
        return bool(first) and any(
            first[0] < one.order and not self._is_tested(one, call) and self._project.collectives.of_call(one)
            for one in earlier
        )

    def _is_tested(self, call: Call, at: Call) -> bool:
        """Whether only some ranks make a call that stands beside another one."""
        return any(not at.region.within(around) for _, around in self._project.rank_tests.guards(call.region))

    def _makes(self, call: Call, names: frozenset[str], depth: int = 0) -> bool:
        """Whether a call, or the function of the project that it runs, calls one of the names."""
        if self._project.names(call.callee) & names:
            return True
        function = self._project.resolver.function_of(call)
        if function is None or depth > _DEEPEST:
            return False
        return any(self._makes(inner, names, depth + 1) for inner in function.script.calls_in(function))

    def _waits(self, script: Script, function: Function | None) -> list[tuple[Call, Region]]:
        """Return the barriers of a function, or of a file outside functions, that only some ranks come to."""
        key = (id(script), id(function))
        if key not in self._known:
            self._known[key] = list(self._guarded_barriers(script.calls_in(function)))
        return self._known[key]

    def _guarded_barriers(self, calls: list[Call]) -> Iterator[tuple[Call, Region]]:
        for call in calls:
            tests = self._project.rank_tests.guards(call.region)
            parting = (around for _, around in tests if not self._project.rank_outcomes.lets_all_in(around))
            tested = next(parting, None)
            if tested is not None and set(self._project.collectives.of_call(call)) == {"barrier"}:
                yield call, tested
