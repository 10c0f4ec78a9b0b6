"""Sums and means over all ranks that are not what they seem: summed again and again, or averaged by parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from ddplint.semantics import Attribute, Call, Comparison, Expression, Name, Operation, Script
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Function, Loop, LoopKind, Region, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_ALL_REDUCE = "torch.distributed.all_reduce"
_SUMS = frozenset({"torch.distributed.ReduceOp.SUM", "torch.distributed.reduce_op.SUM"})
_MEANS = frozenset({"torch.distributed.ReduceOp.AVG"})
# Methods that change a sum otherwise than by adding to it.
_CLEARS = frozenset({"zero_", "fill_", "copy_", "clear", "reset", "div_", "mul_"})
# Names of what says which entries count.
_PICKS = re.compile(r"(?:\w*_)?(?:mask|masks|valid|nonpad|non_pad|not_pad|weights?)", re.IGNORECASE)
_COUNTS = frozenset({"sum", "count_nonzero"})


@dataclass(frozen=True, slots=True)
class RepeatedSum:
    """A running sum that is summed over the ranks in place in every round of a loop that goes on adding to it.

    ``call``: the call in the loop, the collective itself or a method that comes to it.
    """

    call: Call
    reduced: Expression
    loop: Loop


@dataclass(frozen=True, slots=True)
class MeanOfMeans:
    """A mean over what one rank has, averaged over the ranks, though they need not have equally much.

    ``count``: what it was divided by. ``doubtful``: it depends on the data how many entries of a batch count.
    """

    call: Call
    count: Expression
    doubtful: bool


class Averages:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def repeated(self, script: Script) -> Iterator[RepeatedSum]:
        """Yield the running sums of a script that are reduced once more in each round."""
        for call in self._project.calls(script, _ALL_REDUCE):
            tensor = self._project.argument(call, "tensor")
            if not isinstance(tensor, Expression) or not self._sums(call):
                continue
            loop = self._loop_of_name(call, tensor) if isinstance(tensor, Name) else None
            if loop is not None:
                yield RepeatedSum(call, tensor, loop)
                continue
            for use, held in self._syncs(call, tensor):
                around = self._loop_of_method(use, held)
                if around is not None:
                    yield RepeatedSum(use, held, around)

    def of_means(self, script: Script) -> Iterator[MeanOfMeans]:
        """Yield the means of single ranks that a script averages though the counts can differ."""
        for call in self._project.calls(script, _ALL_REDUCE):
            tensor = self._project.argument(call, "tensor")
            count = self._count_of(tensor, call) if isinstance(tensor, Name) else None
            if count is None or not isinstance(tensor, Name) or not self._is_averaged(call, tensor):
                continue
            pieces = [piece for piece, _ in self._project.dependence.pieces(count)]
            if any(map(self._project.uneven_shares.is_one, pieces)):
                yield MeanOfMeans(call, count, False)
            elif any(map(_counts_some, pieces)):
                yield MeanOfMeans(call, count, True)

    # Running sums.

    def _sums(self, call: Call) -> bool:
        operation = self._project.argument(call, "op")
        plain = isinstance(operation, Expression) and self._project.certainly(operation, *_SUMS)
        return operation is Missing.ABSENT or plain

    def _loop_of_name(self, call: Call, tensor: Name) -> Loop | None:
        """Return the loop that reduces a variable in each round, and adds to it, and never sets it anew."""
        bindings = [binding for binding in _bindings(tensor) if binding.region.scope is tensor.scope]
        for loop in _loops(call):
            if self._is_for_some_rounds(call, loop):
                return None
            inside = [binding for binding in bindings if _is_in(binding.region, loop)]
            added = [binding for binding in inside if self._adds_to(binding)]
            if added and len(added) == len(inside) and not self._is_cleared(tensor, loop):
                return loop
            if inside:
                return None
        return None

    def _adds_to(self, binding: Binding) -> bool:
        if not _is_sum(binding.value):
            return False
        if binding.kind is BindingKind.AUGMENTED:
            return True
        return any(isinstance(part, Name) and part.id == binding.name for part in binding.value.children)

    def _is_cleared(self, tensor: Name, loop: Loop) -> bool:
        """Whether a method, or a store into it, sets a variable anew in a loop."""
        script = tensor.scope.script
        stores = (store for store in script.stores if isinstance(store.base, Name) and store.base.id == tensor.id)
        methods = (
            call
            for call in script.calls_in(tensor.scope.function)
            if isinstance(call.callee, Attribute)
            and call.callee.name in _CLEARS
            and isinstance(call.callee.base, Name)
            and call.callee.base.id == tensor.id
        )
        return any(_is_in(region, loop) for region in [one.region for one in stores] + [one.region for one in methods])

    def _is_for_some_rounds(self, call: Call, loop: Loop) -> bool:
        """Whether a test decides in which rounds of a loop a call is made, or the loop ends behind it."""
        for region in call.region.chain():
            if region.loop is loop:
                return False
            if self._project.rank_outcomes.is_switched(region):
                return True
        return False

    # Sums that objects keep.

    def _syncs(self, call: Call, tensor: Expression) -> Iterator[tuple[Call, Attribute]]:
        """Yield the calls of the method that reduces what its object keeps, each with the sum that it keeps."""
        method = call.scope.function
        if (
            method is None
            or method.cls is None
            or any(map(self._project.rank_outcomes.is_switched, call.region.chain()))
        ):
            return
        held = self._held(method, tensor)
        for use in self._project.callers(method)[0] if held is not None else ():
            if isinstance(use.callee, Attribute) and use.scope.script is call.scope.script and held is not None:
                yield use, held

    def _held(self, method: Function, tensor: Expression) -> Attribute | None:
        """Return the attribute of the own object that a reduction changes: itself, or by a copy that is put back."""
        if isinstance(tensor, Attribute):
            return tensor if _is_own(tensor, method) else None
        if not isinstance(tensor, Name):
            return None
        read = [piece for binding in _bindings(tensor) if binding.value is not None for piece in binding.value.walk()]
        kept = {piece.name: piece for piece in read if isinstance(piece, Attribute) and _is_own(piece, method)}
        for store in _stores(method):
            back = store.value is not None and any(
                isinstance(part, Name) and part.id == tensor.id for part in store.value.walk()
            )
            if back and not store.augmented and store.name in kept:
                return kept[store.name]
        return None

    def _loop_of_method(self, use: Call, held: Attribute) -> Loop | None:
        """Return the loop that makes an object add to its sum, and reduce it, in each round, and never sets it anew."""
        assert isinstance(use.callee, Attribute)
        keeper, script = use.callee.base, use.scope.script
        sync = self._project.resolver.function_of(use)
        for loop in _loops(use):
            if self._is_for_some_rounds(use, loop) or self._is_made_in(keeper, loop):
                return None
            others = [
                other
                for other in script.calls_in(use.scope.function)
                if loop in other.region.loops
                and isinstance(other.callee, Attribute)
                and _is_same(other.callee.base, keeper)
            ]
            methods = [method for other in others if (method := self._project.resolver.function_of(other)) is not None]
            stores = [store for method in methods for store in _stores(method) if store.name == held.name]
            if len(methods) < len(others) or any(not _adds(one) and not _is_of(one, sync) for one in stores):
                return None
            if any(map(_adds, stores)):
                return loop
        return None

    def _is_made_in(self, keeper: Expression, loop: Loop) -> bool:
        """Whether an object may be another one in each round."""
        while isinstance(keeper, Attribute):
            keeper = keeper.base
        return not isinstance(keeper, Name) or any(_is_in(binding.region, loop) for binding in _bindings(keeper))

    # Means of means.

    def _count_of(self, tensor: Name, call: Call) -> Expression | None:
        """Return the number by which one rank has divided its own sum before the reduction, None: it has not."""
        quotients = [
            origin
            for origin in self._project.origins(tensor)
            if isinstance(origin, Operation) and origin.operator == "/" and origin.scope.function is call.scope.function
        ]
        if len(quotients) != 1:
            return None
        count = quotients[0].operands[1]
        is_reduced = isinstance(count, Name | Attribute) and self._project.exchanges.touch(count)
        return None if is_reduced or not isinstance(count, Name | Attribute | Call) else count

    def _is_averaged(self, call: Call, tensor: Name) -> bool:
        """Whether a reduced value is divided by the number of ranks, by the collective or afterwards."""
        operation = self._project.argument(call, "op")
        if isinstance(operation, Expression) and self._project.certainly(operation, *_MEANS):
            return True
        return self._sums(call) and any(
            one.operator == "/"
            and one.order > call.order
            and one.scope.function is call.scope.function
            and any(isinstance(part, Name) and part.id == tensor.id for part in one.operands[0].walk())
            and self._project.rank_values.kinds(one.operands[1]) == {RankValue.WORLD_SIZE}
            for one in call.scope.script.operations
        )


def _counts_some(piece: Expression) -> bool:
    """Whether a number is how many entries fulfil a condition: ``mask.sum()``, ``(labels != 0).sum()``."""
    if not isinstance(piece, Call) or last_name(piece.callee) not in _COUNTS:
        return False
    given = [argument.value for argument in piece.arguments[:1]]
    counted = piece.callee.base if isinstance(piece.callee, Attribute) else None
    parts = [part for one in (counted, *given) if one is not None for part in one.walk()]
    return any(isinstance(part, Comparison) or _PICKS.fullmatch(last_name(part)) for part in parts)


def _bindings(name: Name) -> list[Binding]:
    return list(name.scope.bindings.get(name.id, ())) or list(reaching(name.id, name) or ())


def _loops(call: Call) -> list[Loop]:
    return [loop for loop in call.region.loops if loop.kind is not LoopKind.COMPREHENSION]


def _is_in(region: Region, loop: Loop) -> bool:
    return loop in region.loops


def _stores(method: Function) -> list[Store]:
    """Return what a method puts into attributes of its own object."""
    return [
        store
        for store in method.script.stores
        if store.name is not None
        and store.region.scope.function is method
        and isinstance(store.base, Name)
        and method.parameters
        and store.base.id == method.parameters[0].name
    ]


def _is_own(attribute: Attribute, method: Function) -> bool:
    base = attribute.base
    return isinstance(base, Name) and bool(method.parameters) and base.id == method.parameters[0].name


def _is_sum(value: Expression | None) -> TypeGuard[Operation]:
    return isinstance(value, Operation) and value.operator == "+"


def _adds(store: Store) -> bool:
    return store.augmented and _is_sum(store.value)


def _is_of(store: Store, method: Function | None) -> bool:
    return store.region.scope.function is method


def _is_same(one: Expression, other: Expression) -> bool:
    """Whether two expressions name the same object, as far as their names say."""
    if isinstance(one, Name) and isinstance(other, Name):
        return one.id == other.id
    if isinstance(one, Attribute) and isinstance(other, Attribute):
        return one.name == other.name and _is_same(one.base, other.base)
    return False
