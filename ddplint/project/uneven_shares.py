"""Shares of a list that ranks take for themselves, and that need not be equally long where ranks meet for each item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.sites import Site
from ddplint.project.trail import ITERATOR
from ddplint.semantics import Attribute, Call, Constant, Expression, Operation, Script, Subscript
from ddplint.semantics import Sequence as Display
from ddplint.semantics.expressions import Slice, last_name
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.structure import Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What makes a list divisible, or counts the rounds that all ranks have in common.
_EVENS = frozenset({"%", "//"})
_EVENING = frozenset({"ceil", "floor", "divmod", "cycle", "drop_last", "pad"})


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
        return isinstance(taken.base, Display) or self.is_divided(taken.base)

    def is_divided(self, length: Expression) -> bool:
        """Whether anything divides what a list or its length is made from, or the function does so by the ranks."""
        if any(_evens(piece) for piece, _ in self._project.dependence.pieces(length)):
            return True
        return any(
            operation.scope.function is length.scope.function and self._divides_by_ranks(operation)
            for operation in length.scope.script.operations
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
            site = next(self._project.loop_meetings.of(consumer), None)
            if site is not None:
                doubtful = id(consumer.iterable) not in direct or self._project.loop_meetings.is_left(consumer)
                yield UnevenShare(taken, consumer, site, doubtful)


def _evens(piece: Expression) -> bool:
    if isinstance(piece, Operation):
        return piece.operator in _EVENS
    return isinstance(piece, Call | Attribute) and last_name(piece) in _EVENING
