"""Which test lets only some ranks come to a line, around it or around all calls of its function; and which ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.project.lanes import EVERYONE
from ddplint.semantics import Call, Expression
from ddplint.semantics.structure import Function, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Functions, callers of callers included, that are asked which ranks run one of them.
_MOST = 100


class RankSet(Enum):
    """Which ranks of a run with several processes come to a line."""

    ALL = "all ranks"
    ONE = "one rank of the job, or of each node"
    SOME = "some ranks"
    NONE = "no rank: a run with one process only"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks that come to a line, and the test or decorator that decides it; None: nothing in sight does."""

    which: RankSet
    decided_by: Expression | None


class Guards:
    """Answers for the lines of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, frozenset[int]] = {}

    def ranks(self, at: Expression) -> Ranks:
        """Return which ranks come to an expression.

        Unknown: a test asks for the rank in a way that can't be followed, or nothing keeps a rank away but no start of
        a group is in sight either.
        """
        guard = self.of(at)
        coming = self._coming(at)
        if not coming:
            return Ranks(RankSet.NONE, guard)
        if coming != EVERYONE and guard is not None:
            return Ranks(RankSet.ONE if len(coming) == 1 else RankSet.SOME, guard)
        everyone = guard is None and coming == EVERYONE and self._project.processes.all_come_to(at)
        return Ranks(RankSet.ALL if everyone else RankSet.UNKNOWN, guard)

    def of(self, at: Expression) -> Expression | None:
        """Return what lets only some ranks come to an expression, None when nothing in sight does.

        A test around it, a decorator of its function, or a test around every call of its function.
        """
        return self._of(at, frozenset())

    def beside(self, at: Expression) -> Expression | None:
        """Return what lets only some ranks come to an expression inside its own function, its decorators included."""
        return self._in(at.region) or self._project.decorators.deciding(at.region.scope.function)

    def _of(self, at: Expression, seen: frozenset[int]) -> Expression | None:
        found = self.beside(at)
        function = at.region.scope.function
        if found is not None or function is None or id(function) in seen:
            return found
        parent = function.scope.parent
        if parent is not None and parent.function is not None and function.region.parent is not None:
            outer = self._in(function.region.parent)
            if outer is not None:
                return outer
        seen |= {id(function)}
        calls = [call for call in self._project.callers(function)[0] if id(call.scope.function) not in seen]
        guards = [self._of(call, seen) for call in calls]
        return guards[0] if guards and None not in guards and not self._is_all_of(calls) else None

    def _is_all_of(self, calls: Sequence[Call]) -> bool:
        """Whether calls that some ranks make each are made by all ranks together: one in ``if``, one in ``else``."""
        parts = [self._coming(call) for call in calls]
        return EVERYONE not in parts and frozenset[int]().union(*parts) == EVERYONE

    def _in(self, region: Region) -> Expression | None:
        """Return the innermost test around a region inside its function that asks for the rank.

        What is known of its outcome decides: ``local_rank != -1`` holds on all ranks, ``verbose`` may be handed
        ``rank == 0``.
        """
        outcomes = self._project.rank_outcomes
        asking = (test for test, around in self._project.rank_tests.guards(region) if not outcomes.lets_all_in(around))
        found = next(asking, None)
        return found or next((outer.test for outer in region.chain() if outcomes.keeps_some_out(outer)), None)

    def _coming(self, at: Expression) -> frozenset[int]:
        """Return which of the sample processes can come to an expression, by any of the calls in sight."""
        function = at.region.scope.function
        here = self._project.rank_outcomes.processes(at.region)
        return here if function is None else here & self._entering(function)

    def _entering(self, function: Function) -> frozenset[int]:
        """Return which of the samples the calls in sight bring into a function: the least that they add up to."""
        if id(function) in self._known:
            return self._known[id(function)]
        calls = self._calls_above(function)
        coming = dict.fromkeys(calls, frozenset[int]())
        for _ in range(len(EVERYONE) * len(calls)):
            before = dict(coming)
            for key, made in calls.items():
                parts = [part if by is None else part & coming.get(id(by), EVERYONE) for part, by in made]
                coming[key] = frozenset[int]().union(*parts) if made else EVERYONE
            if coming == before:
                break
        self._known[id(function)] = coming[id(function)]
        return coming[id(function)]

    def _calls_above(self, function: Function) -> dict[int, list[tuple[frozenset[int], Function | None]]]:
        """Return the calls of a function, of those that call it, and so on: who makes each, inside which function."""
        found: dict[int, list[tuple[frozenset[int], Function | None]]] = {}
        pending = [function]
        while pending and len(found) < _MOST:
            one = pending.pop()
            if id(one) not in found:
                calls = [call for call in self._project.callers(one)[0] if call.scope.function is not one]
                found[id(one)] = [
                    (self._project.rank_outcomes.processes(call.region), call.scope.function) for call in calls
                ]
                pending.extend(caller for _, caller in found[id(one)] if caller is not None)
        return found
