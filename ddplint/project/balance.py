"""Whether the ranks that a test of the rank parts come to the same collectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.lanes import EVERYONE
from ddplint.project.sites import Site
from ddplint.semantics import Expression, Script
from ddplint.semantics.structure import Function, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

# The ranks of a job meet here before there is a group, or part: those who come make the group.
_GROUP_ITSELF = frozenset({"init_process_group", "destroy_process_group"})
# Callers of callers that are asked whether they bring the other half of a pair.
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Lopsided:
    """A collective to which a test of the rank lets some ranks only: ``guard`` is the test or the decorator.

    ``doubtful``: a switch decides whether they come to it, or the other ranks come to one of the same kind under a
    test of their own, but not as often.
    """

    site: Site
    guard: Expression
    doubtful: bool


class Balance:
    """Compares what the ranks come to.

    Pairs count as balanced wherever they stand in one function, so that ``if rank != 0: barrier()`` may be answered
    further down, and also when two functions hold one half each and a caller brings them together.
    """

    def __init__(self, project: Project) -> None:
        self._project = project

    def lopsided(self, function: Function | None, script: Script) -> Iterator[Lopsided]:
        """Yield the collectives under a test of the rank, in a function itself, that other ranks don't answer.

        Code after an early exit is not under a test: the exit is what to look at there.
        """
        calls = script.calls_in(function)
        guarded = {id(region) for region in {call.region for call in calls} if self._is_guarded(region)}
        if not any(id(call.region) in guarded and self._project.collectives.may_meet(call) for call in calls):
            return
        found: dict[tuple[int, str], Lopsided] = {}
        for frame in self._project.frames.ways(function):
            for one in self._lopsided(function, self._project.sites.of(function, script, frame)):
                found.setdefault((id(one.site.call), one.site.kind), one)
        yield from found.values()

    def _lopsided(self, function: Function | None, sites: Sequence[Site]) -> Iterator[Lopsided]:
        for site in sites:
            guard = None if site.here == EVERYONE or not site.ranks else self.guard(site)
            if guard is None or site.kind in _GROUP_ITSELF or self.is_even(sites, site.kind):
                continue
            if self._is_paired_outside(function, site, _DEEPEST) or self._is_paired_beside(function, site):
                continue
            answered = any(other.ranks and not other.ranks & site.ranks for other in sites if other.kind == site.kind)
            yield Lopsided(site, guard, answered or site.switched)

    def _is_guarded(self, region: Region) -> bool:
        return self._project.rank_outcomes.processes(region) not in (EVERYONE, frozenset())

    def guard(self, site: Site) -> Expression | None:
        """Return the test of the rank around a site, or the decorator; None: only an early exit parts the ranks."""
        tested = (region for region in site.call.region.chain() if not region.implied and region.test is not None)
        parting = next((region.test for region in tested if self._project.rank_outcomes.parts(region)), None)
        return parting or self._project.decorators.deciding(site.call.region.scope.function)

    def is_even(self, sites: Sequence[Site], kind: str) -> bool:
        """Whether all ranks come equally often to collectives of a kind."""
        counts = Counter(number for site in sites if site.kind == kind for number in site.ranks)
        return len({counts[number] for number in EVERYONE}) == 1

    def _is_paired_outside(self, function: Function | None, site: Site, depth: int) -> bool:
        """Whether a caller of the function brings all ranks to the same number of such collectives."""
        if function is None or depth == 0:
            return False
        calls, _ = self._project.callers(function)
        for call in calls:
            around = call.scope.function
            sites = self._project.sites.of(around, call.scope.script)
            brought = any(other.call is call and other.kind == site.kind for other in sites)
            if brought and self.is_even(sites, site.kind):
                return True
            if self._is_paired_outside(around, site, depth - 1):
                return True
        return False

    def _is_paired_beside(self, function: Function | None, site: Site) -> bool:
        """Whether another function of the file brings the other ranks, and only them, to such a collective."""
        script = site.call.scope.script
        for neighbour in script.functions:
            others = () if neighbour is function else self._project.sites.of(neighbour, script)
            halves = (other for other in others if other.kind == site.kind and len(other.path) == 1)
            answers = any(half.ranks and not half.ranks & site.ranks for half in halves)
            if answers and not self.is_even(others, site.kind):
                return True
        return False
