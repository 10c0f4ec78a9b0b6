"""Statements that leave a loop or a function on some ranks while the others go on to a collective."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD
from ddplint.project.frames import Frame
from ddplint.project.lanes import EVERYONE
from ddplint.project.locality import Divergence
from ddplint.project.sites import Site
from ddplint.semantics import Call, Constant, Expression, Script
from ddplint.semantics.attempts import is_tried
from ddplint.semantics.facts import are_contradictory, facts
from ddplint.semantics.structure import Exit, ExitKind, Function, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_GROUP_ITSELF = frozenset({"init_process_group", "destroy_process_group"})
_ENDS_PROCESS = frozenset({"builtins.exit", "builtins.quit", "sys.exit", "os._exit", "os.abort"})


@dataclass(frozen=True, slots=True)
class UnevenExit:
    """An exit that ranks don't take together; ``kind`` None: a call that ends the process.

    ``decision``: the test, or the handler's exception, that sends a rank out. ``reason``: why it can differ between
    ranks. ``missed``: the first collective that the others come to without it. ``doubtful``: a switch decides whether
    they do. ``fails``: the process ends as failed, so that the launcher ends the others, too.
    """

    at: Exit | Call
    kind: ExitKind | None
    decision: Expression | None
    reason: Divergence
    missed: Site
    doubtful: bool
    fails: bool


class Exits:
    """Finds exits that part the ranks."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def uneven(self, function: Function | None, script: Script) -> Iterator[UnevenExit]:
        """Yield the exits of a function, or of code outside functions, that some ranks take before a collective."""
        calls = script.calls_in(function)
        leaves = list(self._leaves(function, script))
        if not leaves or not any(map(self._project.collectives.may_meet, calls)):
            return
        seen: set[int] = set()
        for frame in self._project.frames.ways(function):
            sites = [site for site in self._project.sites.of(function, script, frame) if self._counts(site)]
            for leave, kind in leaves if sites else ():
                found = None if id(leave) in seen else _Case(self._project, leave, kind, sites, frame).judged()
                if found is not None:
                    seen.add(id(leave))
                    yield found

    def _leaves(self, function: Function | None, script: Script) -> Iterator[tuple[Exit | Call, ExitKind | None]]:
        for leave in script.exits:
            if leave.region.scope.function is function:
                yield leave, leave.kind
        for call in script.calls_in(function):
            if self._project.names(call.callee) & _ENDS_PROCESS:
                yield call, None

    def _counts(self, site: Site) -> bool:
        """Whether a site hangs when a rank is missing; a forward without gradient may be no meeting at all."""
        if site.kind == FORWARD:
            return not any(self._project.training.without_gradient(call) for call in site.path)
        return site.kind not in _GROUP_ITSELF


class _Case:
    """One exit, looked at as the function around it is run in one way."""

    def __init__(
        self, project: Project, leave: Exit | Call, kind: ExitKind | None, sites: Sequence[Site], frame: Frame | None
    ) -> None:
        self._project = project
        self._leave = leave
        self._kind = kind
        self._sites = sites
        self._frame = frame
        self._loop = next((region for region in leave.region.chain() if region.loop is not None), None)
        self._inner = _regions(leave.region, self._loop if kind in (ExitKind.BREAK, ExitKind.CONTINUE) else None)

    def judged(self) -> UnevenExit | None:
        """Return what is wrong with the exit, None: nothing that can be proven."""
        ahead = self._ahead()
        found = self._by_rank(ahead) or self._by_failure() or self._by_chance(ahead)
        if found is None:
            return None
        decision, reason, missed = found
        sure = next((site for site in missed if not self._is_switched(site)), None)
        fails = _fails(self._leave, self._kind)
        return UnevenExit(self._leave, self._kind, decision, reason, sure or missed[0], sure is None, fails)

    def _is_switched(self, site: Site) -> bool:
        return self._project.sites.is_switched(site, self._sites, self._frame, self._leave.region)

    def _by_rank(self, ahead: Sequence[Site]) -> tuple[Expression | None, Divergence, list[Site]] | None:
        outcomes = self._project.rank_outcomes
        leaving = EVERYONE
        for region in self._inner:
            leaving &= outcomes.let_through(region, self._frame)
        staying = EVERYONE - leaving
        if not leaving or not staying or not outcomes.processes(self._leave.region, self._frame):
            return None
        answered = {
            site.kind
            for site in self._sites
            if site.ranks and site.ranks <= leaving and site.call.order < self._leave.order
        }
        missed = [
            site
            for site in ahead
            if site.ranks & staying
            and site.kind not in answered
            and self._project.balance.guard(site) is None
            and not self._excludes(site.call.region)
        ]
        parting = (region for region in self._inner if outcomes.let_through(region, self._frame) != EVERYONE)
        return (next(parting).test, Divergence.RANK, missed) if missed else None

    def _excludes(self, region: Region) -> bool:
        """Whether a test around a place can't hold when one around the exit does, but for other exits before it."""
        there = facts(outer for outer in region.chain() if not outer.implied)
        return are_contradictory(there, facts(self._leave.region.chain()))

    def _by_failure(self) -> tuple[Expression | None, Divergence, list[Site]] | None:
        for region in self._inner if not _fails(self._leave, self._kind) else ():
            if region.kind is RegionKind.HANDLER and self._project.locality.catches_what_strikes_one(region):
                broken_off = [
                    site for site in self._sites if site.ranks == EVERYONE and is_tried(site.call.region, region)
                ]
                return (region.caught, Divergence.FAILURE, broken_off) if broken_off else None
        return None

    def _by_chance(self, ahead: Sequence[Site]) -> tuple[Expression | None, Divergence, list[Site]] | None:
        together = [site for site in ahead if site.ranks == EVERYONE]
        for region in self._inner if together else ():
            if region.kind is RegionKind.BRANCH and region.test is not None and not region.implied:
                reason = self._project.locality.of(region.test, self._frame)
                if reason is not None:
                    return region.test, reason, together
        return None

    def _ahead(self) -> list[Site]:
        """Return what whoever does not take the exit may come to: the rest of the pass, the loop, the function."""
        leave, loop = self._leave, self._loop
        around = [site for site in self._sites if loop is not None and site.call.region.within(loop)]
        if self._kind is ExitKind.BREAK:
            return around
        later = [
            site
            for site in (around if self._kind is ExitKind.CONTINUE else self._sites)
            if site.call.order > leave.order and not _in_other_arm(site.call.region, leave.region)
        ]
        return later if self._kind is ExitKind.CONTINUE else list(dict.fromkeys((*later, *around)))


def _fails(leave: Exit | Call, kind: ExitKind | None) -> bool:
    """Whether an exit ends its process as failed."""
    if kind is ExitKind.RAISE:
        return True
    if not isinstance(leave, Call) or not leave.arguments:
        return False
    status = leave.arguments[0].value
    return not (isinstance(status, Constant) and status.value in (0, None))


def _regions(region: Region, bound: Region | None) -> list[Region]:
    """Return the regions around a place, from the inside out, up to a loop or the function."""
    found = []
    for outer in region.chain():
        if outer is bound:
            break
        found.append(outer)
    return found


def _in_other_arm(region: Region, other: Region) -> bool:
    """Whether a region is the arm of a fork that another one does not take; code after the fork is no arm of it."""
    arms = {id(outer.fork): outer.arm for outer in other.around() if outer.fork is not None}
    return any(
        outer.fork is not None and not outer.implied and arms.get(id(outer.fork), outer.arm) != outer.arm
        for outer in region.around()
    )
