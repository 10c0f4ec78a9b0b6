"""Shares of a list that ranks take for themselves, and that need not be equally long where ranks meet for each item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.sites import Site
from ddplint.project.trail import ITERATOR
from ddplint.semantics import (
    Attribute,
    Call,
    Comparison,
    Comprehension,
    Constant,
    Expression,
    Operation,
    Script,
    Subscript,
)
from ddplint.semantics import Sequence as Display
from ddplint.semantics.expressions import Slice, last_name
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.structure import Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What makes a list divisible, or counts the rounds that all ranks have in common.
_EVENS = frozenset({"%", "//"})
_ISLICE, _SPLIT = "itertools.islice", "numpy.array_split"
_EVENING = frozenset({"ceil", "floor", "divmod", "cycle", "drop_last", "pad"})


@dataclass(frozen=True, slots=True)
class UnevenShare:
    """Every n-th item of a list, taken from the rank on, and a loop over them in which all ranks meet.

    ``site``: the meeting. ``doubtful``: the loop may end at the same round on all ranks for another reason, or runs
    over something made of the share.
    """

    taken: Expression
    loop: Loop
    site: Site
    doubtful: bool


class UnevenShares:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[UnevenShare]:
        """Yield the shares of a script of which nothing in sight says that they are equally long."""
        for taken in self._candidates(script):
            if self.is_one(taken):
                found = next(self._met(taken), None)
                if found is not None:
                    yield found

    def is_one(self, taken: Expression) -> bool:
        """Whether an expression is a share of which nothing in sight says that it is as long on all ranks.

        ``items[rank::world_size]``, ``islice`` of the same, ``array_split(items, world_size)[rank]``, or the items
        whose number modulo the world size is the rank.
        """
        shared = self._shared(taken)
        return shared is not None and not isinstance(shared, Display) and not self.is_divided(shared)

    def _candidates(self, script: Script) -> Iterator[Expression]:
        yield from script.sliced
        yield from (call for call in script.calls if last_name(call.callee) == "islice")
        if any(last_name(call.callee) == "array_split" for call in script.calls):
            yield from (taken for taken in script.subscripts if not isinstance(taken.index, Slice | Constant))
        uses = self._project.uses(script)
        for operation in script.operations:
            comparison = uses.parent(operation) if operation.operator == "%" else None
            picked = None if comparison is None else uses.parent(comparison)
            if isinstance(picked, Comprehension):
                yield picked

    def _shared(self, taken: Expression) -> Expression | None:
        """Return what is shared out, where an expression is the share of one rank."""
        if isinstance(taken, Subscript):
            return self._of_slice(taken) if isinstance(taken.index, Slice) else self._of_parts(taken)
        if isinstance(taken, Comprehension):
            return taken.iterables[0] if any(map(self._picks_rank, taken.tests)) else None
        if isinstance(taken, Call) and self._project.certainly(taken.callee, _ISLICE) and len(taken.arguments) == 4:
            items, start, stop, step = (given.value for given in taken.arguments)
            is_open = isinstance(stop, Constant) and stop.value is None
            return items if is_open and self._is_stride(start, step) else None
        return None

    def _of_slice(self, taken: Subscript) -> Expression | None:
        cut = taken.index
        if not isinstance(cut, Slice) or cut.lower is None or cut.upper is not None or cut.step is None:
            return None
        return taken.base if self._is_stride(cut.lower, cut.step) else None

    def _of_parts(self, taken: Subscript) -> Expression | None:
        parts = self._project.origins(taken.base)
        split = parts[0] if len(parts) == 1 else None
        if not isinstance(split, Call) or not self._project.certainly(split.callee, _SPLIT):
            return None
        return split.arguments[0].value if split.arguments and self._project.rank_parts.differs(taken.index) else None

    def _is_stride(self, start: Expression, step: Expression) -> bool:
        return self._project.rank_parts.differs(start) and not isinstance(step, Constant)

    def _picks_rank(self, test: Expression) -> bool:
        """Whether a test lets every n-th item pass: ``number % world_size == rank``."""
        if not isinstance(test, Comparison) or [operator for operator, _ in test.comparisons] != ["=="]:
            return False
        modulo = [side for side in test.children if isinstance(side, Operation) and side.operator == "%"]
        others = [side for side in test.children if side not in modulo]
        return (
            len(modulo) == 1
            and not isinstance(modulo[0].operands[-1], Constant)
            and all(self._project.rank_parts.differs(other) for other in others)
        )

    def is_divided(self, length: Expression) -> bool:
        """Whether anything divides what a list or its length is made from, or the function does so by the ranks."""
        if any(_evens(piece) for piece, _ in self._project.dependence.pieces(length)):
            return True
        beside = length.scope.script.operations
        return any(one.scope.function is length.scope.function and self._divides_by_ranks(one) for one in beside)

    def _divides_by_ranks(self, operation: Operation) -> bool:
        comparison = self._project.uses(operation.scope.script).parent(operation)
        if operation.operator not in _EVENS or (comparison is not None and self._picks_rank(comparison)):
            return False
        divisor = operation.operands[-1]
        return RankValue.WORLD_SIZE in self._project.rank_values.kinds(divisor) or "world" in last_name(divisor)

    def _met(self, taken: Expression) -> Iterator[UnevenShare]:
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
