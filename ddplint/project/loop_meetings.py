"""Where all ranks meet in every round of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD
from ddplint.project.lanes import EVERYONE
from ddplint.project.sites import Site
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import ExitKind, Loop

if TYPE_CHECKING:
    from ddplint.project.project import Project

_JOINS = frozenset({"join", "Join"})


class LoopMeetings:
    """Answers for the loops of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, loop: Loop) -> Iterator[Site]:
        """Yield the collectives that all ranks come to in a loop, gradients exchanged included, whatever the options.

        A forward without gradient may be none. In ``with model.join():`` ranks that are done go along.
        """
        region = loop.statement.region
        contexts = (context for outer in region.chain() for context in outer.contexts)
        if any(last_name(context) in _JOINS for context in contexts):
            return
        for site in self._project.sites.of(region.scope.function, region.scope.script):
            silent = site.kind == FORWARD and any(map(self._project.training.without_gradient, site.path))
            if loop in site.call.region.loops and site.ranks == EVERYONE and not site.switched and not silent:
                yield site

    def is_left(self, loop: Loop) -> bool:
        """Whether a statement may end a loop early."""
        leaves = loop.statement.region.scope.script.exits
        return any(leave.kind in (ExitKind.BREAK, ExitKind.RETURN) and loop in leave.region.loops for leave in leaves)
