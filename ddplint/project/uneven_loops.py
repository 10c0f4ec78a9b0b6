"""Loops whose number of rounds is another one on each rank, though all ranks meet in every round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD
from ddplint.project.locality import Divergence
from ddplint.project.sites import Site
from ddplint.semantics import Call, Constant, Expression, Script
from ddplint.semantics.structure import Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_RANGE = "builtins.range"


@dataclass(frozen=True, slots=True)
class UnevenLoop:
    """A loop, the expression that says how often it runs, and why that differs; ``site``: where the ranks meet.

    ``doubtful``: something else may end the loop at the same round on all ranks.
    """

    loop: Loop
    decision: Expression
    reason: Divergence
    site: Site
    doubtful: bool


class UnevenLoops:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[UnevenLoop]:
        """Yield the loops of a script that run as often as the rank, or the data of the rank, says.

        Two loops of a function that make up for each other, ``range(rank)`` and ``range(world_size - rank)``, do not
        count; nor does a loop over a share of a list (see UnevenShares).
        """
        found = [one for loop in script.loops if (one := self._uneven(loop)) is not None]
        for one in found:
            if not any(other is not one and _make_up(one, other) for other in found):
                yield one

    def _uneven(self, loop: Loop) -> UnevenLoop | None:
        decided = self._decided_by(loop)
        if decided is None:
            return None
        decision, reason = decided
        sites = self._project.loop_meetings.of(loop)
        if reason is not Divergence.RANK:
            sites = (site for site in sites if site.kind != FORWARD)
        site = next(sites, None)
        if site is None:
            return None
        return UnevenLoop(loop, decision, reason, site, self._project.loop_meetings.is_left(loop))

    def _decided_by(self, loop: Loop) -> tuple[Expression, Divergence] | None:
        """Return what makes the number of rounds another one on each rank, and why; None: nothing that is known."""
        if loop.kind is LoopKind.WHILE and loop.test is not None and not isinstance(loop.test, Constant):
            reason = self._project.locality.of(loop.test)
            return None if reason is None else (loop.test, reason)
        iterable = loop.iterable
        if loop.kind is not LoopKind.FOR or not isinstance(iterable, Call):
            return None
        if not self._project.certainly(iterable.callee, _RANGE) or any(given.star for given in iterable.arguments):
            return None
        return self._of_range([given.value for given in iterable.arguments])

    def _of_range(self, bounds: list[Expression]) -> tuple[Expression, Divergence] | None:
        if len(bounds) == 1:
            if self._parts_ranks(bounds[0]):
                return bounds[0], Divergence.RANK
            reason = self._project.locality.of(bounds[0])
            return None if reason in (None, Divergence.METRIC) else (bounds[0], reason or Divergence.RANK)
        if len(bounds) == 2:
            one, other = map(self._parts_ranks, bounds)
            return None if one == other else (bounds[0] if one else bounds[1], Divergence.RANK)
        return self._of_steps(*bounds) if len(bounds) == 3 else None

    def _of_steps(self, start: Expression, stop: Expression, step: Expression) -> tuple[Expression, Divergence] | None:
        """Return the start of ``range(rank, count, world_size)``, unless anything makes the count divisible."""
        if isinstance(step, Constant) or not self._parts_ranks(start) or self._parts_ranks(stop):
            return None
        return None if self._project.uneven_shares.is_divided(stop) else (start, Divergence.RANK)

    def _parts_ranks(self, number: Expression) -> bool:
        """Whether a number certainly is another one on some ranks."""
        rows = self._project.rank_outcomes.of(number)
        return bool(rows) and all(len(set(map(_plain, row))) > 1 for row in rows)


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | str) else id(value)


def _make_up(one: UnevenLoop, other: UnevenLoop) -> bool:
    scopes = {id(found.loop.statement.region.scope) for found in (one, other)}
    return len(scopes) == 1 and one.reason is other.reason is Divergence.RANK and one.site.kind == other.site.kind
