"""Statements that leave a loop or a function on some ranks while the others go on to a collective."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD
from ddplint.project.frames import Frame
from ddplint.project.lanes import EVERYONE
from ddplint.project.locality import Reason
from ddplint.project.sites import Site
from ddplint.semantics import Call, Constant, Expression, Script
from ddplint.semantics.structure import Exit, ExitKind, Function, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_GROUP_ITSELF = frozenset({"init_process_group", "destroy_process_group"})
_ENDS_PROCESS = frozenset({"builtins.exit", "builtins.quit", "sys.exit", "os._exit", "os.abort"})
_AHEAD = frozenset({ExitKind.RETURN, ExitKind.RAISE, None})


@dataclass(frozen=True, slots=True)
class UnevenExit:
    """An exit that ranks don't take together; ``kind`` None: a call that ends the process.

    ``decision``: the test, or the handler's exception, that sends a rank out. ``reason``: why it can differ between
    ranks. ``missed``: the first collective that the others come to without it. ``fails``: the process ends as failed,
    so that the launcher ends the others, too.
    """

    at: Exit | Call
    kind: ExitKind | None
    decision: Expression | None
    reason: Reason
    missed: Site
    fails: bool


class Exits:
    """Finds exits that part the ranks."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def uneven(self, function: Function | None, script: Script) -> Iterator[UnevenExit]:
        """Yield the exits of a function, or of code outside functions, that some ranks take before a collective."""
        leaves = list(self._leaves(function, script))
        if not leaves or not any(
            map(self._project.collectives.may_meet, self._project.sites.calls_in(function, script))
        ):
            return
        seen: set[int] = set()
        for frame in self._project.frames.ways(function):
            sites = [site for site in self._project.sites.of(function, script, frame) if self._counts(site)]
            for leave, kind in leaves if sites else ():
                found = None if id(leave) in seen else self._judged(leave, kind, sites, frame)
                if found is not None:
                    seen.add(id(leave))
                    yield found

    def _leaves(self, function: Function | None, script: Script) -> Iterator[tuple[Exit | Call, ExitKind | None]]:
        for leave in script.exits:
            if leave.region.scope.function is function:
                yield leave, leave.kind
        for call in self._project.sites.calls_in(function, script):
            if self._project.names(call.callee) & _ENDS_PROCESS:
                yield call, None

    def _counts(self, site: Site) -> bool:
        """Whether a site hangs when a rank is missing; a forward without gradient may be no meeting at all."""
        if site.kind == FORWARD:
            return not any(self._project.training.without_gradient(call) for call in site.path)
        return site.kind not in _GROUP_ITSELF

    def _judged(
        self, leave: Exit | Call, kind: ExitKind | None, sites: Sequence[Site], frame: Frame | None
    ) -> UnevenExit | None:
        loop = next((region for region in leave.region.chain() if region.loop is not None), None)
        bound = loop if kind in (ExitKind.BREAK, ExitKind.CONTINUE) else None
        inner = _regions(leave.region, bound)
        ahead = _ahead(leave, kind, sites, loop)
        missed = self._missed_by_rank(leave, inner, ahead, sites, frame) or self._missed_by_chance(
            inner, ahead, sites, frame
        )
        return None if missed is None else UnevenExit(leave, kind, *missed, self._fails(leave, kind))

    def _missed_by_rank(
        self,
        leave: Exit | Call,
        inner: Sequence[Region],
        ahead: Sequence[Site],
        sites: Sequence[Site],
        frame: Frame | None,
    ) -> tuple[Expression | None, Reason, Site] | None:
        outcomes = self._project.rank_outcomes
        present = outcomes.processes(leave.region, frame)
        leaving = EVERYONE
        for region in inner:
            leaving &= outcomes.let_through(region, frame)
        staying = EVERYONE - leaving
        if not leaving or not staying or not present:
            return None
        own = Counter(
            site.kind for site in sites if site.ranks and site.ranks <= leaving and site.call.order < leave.order
        )
        for site in ahead:
            if site.ranks & staying and self._project.balance.guard(site) is None and not own[site.kind]:
                parting = (region for region in inner if outcomes.let_through(region, frame) != EVERYONE)
                return next(parting).test, Reason.RANK, site
        return None

    def _missed_by_chance(
        self, inner: Sequence[Region], ahead: Sequence[Site], sites: Sequence[Site], frame: Frame | None
    ) -> tuple[Expression | None, Reason, Site] | None:
        together = next((site for site in ahead if site.ranks == EVERYONE), None)
        for region in inner:
            if region.kind is RegionKind.HANDLER and self._project.locality.catches_what_strikes_one(region):
                broken_off = next((site for site in sites if site.ranks == EVERYONE and _is_tried(site, region)), None)
                return None if broken_off is None else (region.caught, Reason.FAILURE, broken_off)
            if region.kind is RegionKind.BRANCH and region.test is not None and not region.implied and together:
                reason = self._project.locality.of(region.test, frame)
                if reason is not None:
                    return region.test, reason, together
        return None

    def _fails(self, leave: Exit | Call, kind: ExitKind | None) -> bool:
        """Whether an exit ends its process as failed."""
        if kind is ExitKind.RAISE:
            return True
        if not isinstance(leave, Call) or not leave.arguments:
            return False
        status = leave.arguments[0].value
        return not (isinstance(status, Constant) and status.value in (0, None))


def _is_tried(site: Site, handler: Region) -> bool:
    """Whether a site stands in the ``try`` block of a handler."""
    tried = (region.node for region in site.call.region.chain() if region.kind is RegionKind.TRY)
    return any(handler.node in getattr(node, "handlers", ()) for node in tried)


def _regions(region: Region, bound: Region | None) -> list[Region]:
    """Return the regions around a place, from the inside out, up to a loop or the function."""
    found = []
    for outer in region.chain():
        if outer is bound:
            break
        found.append(outer)
    return found


def _ahead(leave: Exit | Call, kind: ExitKind | None, sites: Sequence[Site], loop: Region | None) -> list[Site]:
    """Return what whoever does not take an exit may come to: the rest of the pass, of the loop, of the function."""
    later = [
        site for site in sites if site.call.order > leave.order and not _in_other_arm(site.call.region, leave.region)
    ]
    if kind is ExitKind.CONTINUE:
        return [site for site in later if loop is not None and site.call.region.within(loop)]
    around = [site for site in sites if loop is not None and site.call.region.within(loop)]
    if kind is ExitKind.BREAK:
        return around
    return list(dict.fromkeys((*later, *around)))


def _in_other_arm(region: Region, other: Region) -> bool:
    """Whether a region is the arm of a fork that another one does not take; code after the fork is no arm of it."""
    arms = {id(outer.fork): outer.arm for outer in other.around() if outer.fork is not None}
    return any(
        outer.fork is not None and not outer.implied and arms.get(id(outer.fork), outer.arm) != outer.arm
        for outer in region.around()
    )
