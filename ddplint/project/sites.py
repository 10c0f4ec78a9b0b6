"""The places of a function that come to collectives, and which ranks come to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ddplint.project.collectives import BACKWARD, FORWARD, Collectives, is_backward
from ddplint.project.dependence import Dependence
from ddplint.project.frames import DEEPEST_FRAME, Frame
from ddplint.project.rank_outcomes import RankOutcomes
from ddplint.semantics import Attribute, Call, Expression, Script
from ddplint.semantics.structure import Function, Region

# Collectives that are looked at below one place.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Site:
    """A call in a function that comes to a collective, itself or through what it runs.

    ``path``: the calls from this one down to the collective, which is the last of them. ``frame``: how the function
    around the collective is run on that way. ``here``: the sample processes that come to the call. ``ranks``: those
    that come to the collective (see lanes.PROCESSES). ``switched``: below the call an option or the like decides
    whether it comes to the collective at all.
    """

    path: tuple[Call, ...]
    kind: str
    frame: Frame | None
    here: frozenset[int]
    ranks: frozenset[int]
    switched: bool

    @property
    def call(self) -> Call:
        return self.path[0]

    @property
    def collective(self) -> Call:
        return self.path[-1]


class Sites:
    """Finds the sites of functions, and of code outside every function."""

    def __init__(self, collectives: Collectives, outcomes: RankOutcomes, dependence: Dependence) -> None:
        self._collectives = collectives
        self._outcomes = outcomes
        self._dependence = dependence
        self._known: dict[tuple[int, Frame | None], tuple[Site, ...]] = {}
        self._entered: set[int] = set()

    def of(self, function: Function | None, script: Script, frame: Frame | None = None) -> tuple[Site, ...]:
        """Return the sites of a function, or of a script outside its functions, in source order.

        ``frame``: how the function is run. Collectives among some ranks only (a group is given) are left out.
        """
        key = (id(script if function is None else function), frame)
        if key not in self._known:
            found = [site for call in script.calls_in(function) for site in self.at(call, frame)]
            self._known[key] = tuple(found[:_MOST])
        return self._known[key]

    def at(self, call: Call, frame: Frame | None = None) -> tuple[Site, ...]:
        """Return the collectives that a call comes to, in order."""
        if not self._collectives.may_meet(call):
            return ()
        here = self._outcomes.processes(call.region, frame)
        own = self._collectives.own(call, frame) or self._backward(call, frame)
        if own is not None:
            return () if self._collectives.is_of_some(call) else (Site((call,), own, frame, here, here, False),)
        return tuple(self._below(call, frame, here))

    def _below(self, call: Call, frame: Frame | None, here: frozenset[int]) -> Iterator[Site]:
        function = self._collectives.runs(call)
        if function is None or id(function) in self._entered or (frame is not None and frame.depth >= DEEPEST_FRAME):
            return
        self._entered.add(id(function))
        try:
            inside = Frame(function, call, frame)
            sites = self.of(function, function.script, inside)
            for site in sites:
                switched = self.is_switched(site, sites, inside)
                yield Site((call, *site.path), site.kind, site.frame, here, here & site.ranks, switched)
        finally:
            self._entered.discard(id(function))

    def is_switched(
        self, site: Site, sites: Sequence[Site], frame: Frame | None = None, beside: Region | None = None
    ) -> bool:
        """Whether an option or the like decides if a function, run past a place ``beside``, comes to the collective.

        An option that only chooses between two ways to the same kind of collective does not.
        """
        around = () if beside is None else tuple(beside.around())
        settled = {id(part) for region in around for part in (region, region.fork) if part is not None}
        switches = (
            region
            for region in site.call.region.chain()
            if settled.isdisjoint((id(region), id(region.fork))) and self._outcomes.is_switched(region, frame)
        )
        alike = [other for other in sites if other.kind == site.kind]
        return site.switched or not all(_leads_there_anyway(region, alike) for region in switches)

    def _backward(self, call: Call, frame: Frame | None) -> str | None:
        """Return BACKWARD for a backward pass that goes through a wrapped model and exchanges the gradients."""
        if not is_backward(call) or any(_keeps_gradients(region) for region in call.region.chain()):
            return None
        pieces = self._dependence.pieces(call, frame, lambda piece, inside: self._is_forward(piece, inside))
        return BACKWARD if any(self._is_forward(piece, inside) for piece, inside in pieces) else None

    def _is_forward(self, piece: Expression, frame: Frame | None) -> bool:
        return isinstance(piece, Call) and self._collectives.own(piece, frame) == FORWARD


def _keeps_gradients(region: Region) -> bool:
    """Whether code runs in ``with model.no_sync()``."""
    return any(
        isinstance(context, Call) and isinstance(context.callee, Attribute) and context.callee.name == "no_sync"
        for context in region.contexts
    )


def _leads_there_anyway(region: Region, sites: Sequence[Site]) -> bool:
    """Whether each arm of the fork that a region belongs to holds one of these sites."""
    arms = [] if region.fork is None or not region.fork.exhaustive else region.fork.arms
    return bool(arms) and all(any(site.call.region.within(arm) for site in sites) for arm in arms if not arm.implied)
