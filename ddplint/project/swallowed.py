"""Failures of a training step that a handler passes over on the rank that they strike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import BACKWARD, FORWARD
from ddplint.project.lanes import EVERYONE
from ddplint.project.sites import Site
from ddplint.semantics import Script
from ddplint.semantics.attempts import is_tried
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import ExitKind, Loop, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

_ENDS = frozenset({"exit", "_exit", "abort", "kill", "destroy_process_group", "quit"})


@dataclass(frozen=True, slots=True)
class Swallowed:
    """A handler that lets the rank that it runs on go on to the next round; ``site``: the meeting that may be missed.

    ``agreed``: the ranks exchange something in the loop beside the training step, perhaps whether it failed.
    """

    handler: Region
    site: Site
    loop: Loop
    agreed: bool


class SwallowedFailures:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Swallowed]:
        """Yield the handlers around a training step of a wrapped model that go on in the loop around them.

        One that leaves the loop or the round is an exit (see Exits).
        """
        for handler in script.handlers:
            loop = next((region.loop for region in handler.chain() if region.loop is not None), None)
            if loop is None or self._leaves(handler, script):
                continue
            if not self._project.locality.catches_what_strikes_one(handler):
                continue
            sites = self._project.sites.of(handler.scope.function, script)
            step = [site for site in sites if is_tried(site.call.region, handler) and self._trains(site)]
            if step and not any(site.call.region.within(handler) for site in sites):
                yield Swallowed(handler, step[0], loop, any(self._may_agree(site, loop) for site in sites))

    def _leaves(self, handler: Region, script: Script) -> bool:
        """Whether a handler ends what it stands in: always by an error, or at all by another exit."""
        leaves = [leave for leave in script.exits if leave.region.within(handler)]
        if any(leave.kind is not ExitKind.RAISE or leave.region is handler for leave in leaves) or handler.leaves:
            return True
        calls = (call for call in script.calls_in(handler.scope.function) if call.region.within(handler))
        return any(last_name(call.callee) in _ENDS for call in calls)

    def _trains(self, site: Site) -> bool:
        if site.kind not in (FORWARD, BACKWARD) or site.ranks != EVERYONE:
            return False
        return not any(map(self._project.training.without_gradient, site.path))

    def _may_agree(self, site: Site, loop: Loop) -> bool:
        return loop in site.call.region.loops and site.kind not in (FORWARD, BACKWARD)
