"""Shares of a list that ranks take for themselves, and that need not be equally long where ranks meet for each item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD
from ddplint.project.lanes import EVERYONE
from ddplint.project.sites import Site
from ddplint.project.trail import ITERATOR
from ddplint.semantics import Attribute, Call, Constant, Expression, Operation, Script, Subscript
from ddplint.semantics import Sequence as Display
from ddplint.semantics.expressions import Slice, last_name
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.structure import ExitKind, Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What makes a list divisible, or counts the rounds that all ranks have in common.
_EVENS = frozenset({"%", "//"})
_EVENING = frozenset({"ceil", "floor", "divmod", "cycle", "drop_last", "pad"})
_JOINS = frozenset({"join", "Join"})


@dataclass(frozen=True, slots=True)
class UnevenShare:
    """Every n-th item of a list, taken from the rank on, and a loop over them in which all ranks meet.

    ``site``: the meeting. ``doubtful``: the loop may end at the same round on all ranks for another reason, or runs
    over something made of the share.
    """

    taken: Subscript
    loop: Loop
    site: Site
    doubtful: bool


class UnevenShares:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[UnevenShare]:
        """Yield the shares of a script of which nothing in sight says that they are equally long."""
        for taken in script.sliced:
            if self.is_one(taken):
                found = next(self._met(taken), None)
                if found is not None:
                    yield found

    def is_one(self, taken: Subscript) -> bool:
        """Whether a slice is a share of which nothing in sight says that it is as long on all ranks."""
        return self._is_share(taken) and not self._is_evened(taken)

    def _is_share(self, taken: Subscript) -> bool:
        """Whether a slice is ``items[rank::world_size]``."""
        cut = taken.index
        if not isinstance(cut, Slice) or cut.lower is None or cut.upper is not None or cut.step is None:
            return False
        return self._project.rank_parts.differs(cut.lower) and not isinstance(cut.step, Constant)

    def _is_evened(self, taken: Subscript) -> bool:
        """Whether anything divides, or fills up, what a share is taken of, or the function around it does."""
        pieces = [piece for piece, _ in self._project.dependence.pieces(taken.base)]
        if isinstance(taken.base, Display) or any(map(_evens, pieces)):
            return True
        return any(
            operation.scope.function is taken.scope.function and self._divides_by_ranks(operation)
            for operation in taken.scope.script.operations
        )

    def _divides_by_ranks(self, operation: Operation) -> bool:
        if operation.operator not in _EVENS:
            return False
        divisor = operation.operands[-1]
        return RankValue.WORLD_SIZE in self._project.rank_values.kinds(divisor) or "world" in last_name(divisor)

    def _met(self, taken: Subscript) -> Iterator[UnevenShare]:
        """Yield the loops over a share in which all ranks meet."""
        trail = self._project.trail(taken)
        direct = {id(one.at) for one in trail.reached if set(one.steps) <= {ITERATOR}}
        for consumer in trail.consumers:
            if isinstance(consumer, Call) or consumer.kind is LoopKind.COMPREHENSION:
                continue
            site = next(self._sites(consumer), None)
            if site is not None and not _joins(consumer):
                doubtful = id(consumer.iterable) not in direct or _is_left(consumer)
                yield UnevenShare(taken, consumer, site, doubtful)

    def _sites(self, loop: Loop) -> Iterator[Site]:
        """Yield where all ranks meet in each round of a loop, gradients exchanged included."""
        region = loop.statement.region
        for site in self._project.sites.of(region.scope.function, region.scope.script):
            silent = site.kind == FORWARD and any(map(self._project.training.without_gradient, site.path))
            if loop in site.call.region.loops and site.ranks == EVERYONE and not site.switched and not silent:
                yield site


def _evens(piece: Expression) -> bool:
    if isinstance(piece, Operation):
        return piece.operator in _EVENS
    return isinstance(piece, Call | Attribute) and last_name(piece) in _EVENING


def _joins(loop: Loop) -> bool:
    """Whether a loop runs where ranks that are done wait for the others: ``with model.join():``."""
    contexts = (context for region in loop.statement.region.chain() for context in region.contexts)
    return any(last_name(context) in _JOINS for context in contexts)


def _is_left(loop: Loop) -> bool:
    """Whether something ends a loop early."""
    leaves = loop.statement.region.scope.script.exits
    return any(
        leave.kind in (ExitKind.BREAK, ExitKind.RETURN) and loop in leave.region.loops for leave in leaves
    )
