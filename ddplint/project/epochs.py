"""Loops that count epochs, and the names under which a loader is known in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddplint.project.passes import Repeat
from ddplint.semantics import Call, Expression
from ddplint.semantics.in_reach import InReach, in_reach
from ddplint.semantics.structure import BindingKind, Loop

if TYPE_CHECKING:
    from ddplint.project.project import Project

_RANGES = frozenset({"builtins.range", "tqdm.trange", "tqdm.auto.trange"})


class Epochs:
    """Answers for the loops in which data is run over again and again."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def counter(self, loop: Loop) -> str | None:
        """Return the name in which a loop counts its rounds, None when it does not count or nobody is to read it."""
        if not self.counts(loop):
            return None
        for name, bindings in loop.statement.region.scope.bindings.items():
            for binding in bindings:
                if binding.kind is BindingKind.LOOP and binding.value is loop.iterable and not binding.path:
                    return name if name.strip("_") else None
        return None

    def counts(self, loop: Loop) -> bool:
        """Whether a loop runs over a range of numbers, also through a progress bar."""
        return loop.iterable is not None and self._counts(loop.iterable)

    def known_as(self, made: Call, repeat: Repeat) -> str | None:
        """Return the name that surely is what a call made, where a loop begins and where it runs over it."""
        if repeat.loop.iterable is None:
            return None
        name = in_reach(made, repeat.loop.iterable)
        if name is None or not name == InReach(name.name) == in_reach(made, repeat.inside):
            return None
        return name.name

    def _counts(self, iterable: Expression) -> bool:
        if not isinstance(iterable, Call):
            return False
        names = self._project.names(iterable.callee)
        if names <= _RANGES:
            return True
        is_bar = all(name.partition(".")[0] == "tqdm" for name in names)
        return is_bar and bool(iterable.arguments) and self._counts(iterable.arguments[0].value)
