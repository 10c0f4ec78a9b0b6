"""The places of a function that come to collectives, and which ranks come to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.project.collectives import Collectives
from ddplint.project.frames import DEEPEST_FRAME, Frame
from ddplint.project.rank_outcomes import RankOutcomes
from ddplint.semantics import Call, Script
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Function

# Collectives that are looked at below one place.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Site:
    """A call in a function that comes to a collective, itself or through what it runs.

    ``path``: the calls from this one down to the collective, which is the last of them. ``frame``: how the function
    around the collective is run on that way. ``here``: the sample processes that come to the call. ``ranks``: those
    that come to the collective (see lanes.PROCESSES).
    """

    path: tuple[Call, ...]
    kind: str
    frame: Frame | None
    here: frozenset[int]
    ranks: frozenset[int]

    @property
    def call(self) -> Call:
        return self.path[0]

    @property
    def collective(self) -> Call:
        return self.path[-1]


class Sites:
    """Finds the sites of functions, and of code outside every function."""

    def __init__(self, resolver: Resolver, collectives: Collectives, outcomes: RankOutcomes) -> None:
        self._resolver = resolver
        self._collectives = collectives
        self._outcomes = outcomes
        self._calls: dict[int, dict[int, list[Call]]] = {}
        self._known: dict[tuple[int, Frame | None], tuple[Site, ...]] = {}
        self._entered: set[int] = set()

    def of(self, function: Function | None, script: Script, frame: Frame | None = None) -> tuple[Site, ...]:
        """Return the sites of a function, or of a script outside its functions, in source order.

        ``frame``: how the function is run. Collectives among some ranks only (a group is given) are left out.
        """
        key = (id(script if function is None else function), frame)
        if key not in self._known:
            found = [site for call in self.calls_in(function, script) for site in self.at(call, frame)]
            self._known[key] = tuple(found[:_MOST])
        return self._known[key]

    def at(self, call: Call, frame: Frame | None = None) -> tuple[Site, ...]:
        """Return the collectives that a call comes to, in order."""
        if not self._collectives.may_meet(call):
            return ()
        here = self._outcomes.processes(call.region, frame)
        own = self._collectives.own(call, frame)
        if own is not None:
            return () if self._collectives.is_of_some(call) else (Site((call,), own, frame, here, here),)
        return tuple(self._below(call, frame, here))

    def _below(self, call: Call, frame: Frame | None, here: frozenset[int]) -> Iterator[Site]:
        function = self._collectives.runs(call)
        if function is None or id(function) in self._entered or (frame is not None and frame.depth >= DEEPEST_FRAME):
            return
        self._entered.add(id(function))
        try:
            for site in self.of(function, function.script, Frame(function, call, frame)):
                yield Site((call, *site.path), site.kind, site.frame, here, here & site.ranks)
        finally:
            self._entered.discard(id(function))

    def calls_in(self, function: Function | None, script: Script) -> list[Call]:
        """Return the calls that stand in a function itself, in source order."""
        if id(script) not in self._calls:
            index = self._calls[id(script)] = {}
            for call in script.calls:
                index.setdefault(id(call.scope.function), []).append(call)
        return self._calls[id(script)].get(id(function), [])
