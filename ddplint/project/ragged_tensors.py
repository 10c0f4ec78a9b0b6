"""Tensors whose size depends on the data of the rank, in collectives that want one size on all ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Comparison, Expression, Name, Operation, Script, Subscript
from ddplint.semantics import Sequence as Display
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Collectives that want the tensors of all ranks to be of one size.
_WANT_ONE_SIZE = frozenset(
    {"all_gather", "all_gather_into_tensor", "all_reduce", "gather", "reduce", "_all_gather_base"}
)
# Calls whose result has as many entries as the data says.
_SELECTS = frozenset({"nonzero", "unique", "masked_select", "argwhere", "unique_consecutive"})
# Methods and functions that keep a size.
_KEEPS_SIZE = frozenset(
    {"abs", "bfloat16", "bool", "clone", "contiguous", "cpu", "cuda", "detach", "double", "exp", "flatten", "float"}
    | {
        "half",
        "int",
        "long",
        "log",
        "requires_grad_",
        "sigmoid",
        "softmax",
        "squeeze",
        "to",
        "type",
        "unsqueeze",
        "view",
    }
)
_JOINS = frozenset({"torch.cat", "torch.stack", "torch.concat", "torch.tensor", "torch.as_tensor"})
_ORDERS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_LOGIC = frozenset({"&", "|", "~", "^"})
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class RaggedTensor:
    """A tensor that a call gives to a collective, and what makes its size another one on each rank."""

    call: Call
    value: Expression
    cause: Expression
    collective: Call


class RaggedTensors:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[RaggedTensor]:
        """Yield the tensors of a script whose size certainly depends on data, each with the first collective.

        Not where the ranks exchange something else before in the function around the collective, perhaps the sizes.
        """
        told: set[int] = set()
        for call in script.calls:
            for found in self._project.collective_inputs.of(call):
                if last_name(found.collective.callee) not in _WANT_ONE_SIZE or self._comes_second(found.path):
                    continue
                cause = self._cause(found.value, 0)
                if cause is not None and id(cause) not in told and cause.scope.script is script:
                    told.add(id(cause))
                    yield RaggedTensor(call, found.value, cause, found.collective)

    def _comes_second(self, path: tuple[Call, ...]) -> bool:
        """Whether something is exchanged before a call, in its function or in one on the way there."""
        for call in path:
            before = call.scope.script.calls_in(call.scope.function)
            if any(other.order < call.order and self._project.exchanges.gives(other) for other in before):
                return True
        return False

    def _cause(self, value: Expression, depth: int) -> Expression | None:
        """Return what makes the size of a tensor depend on data, None unless that is so however it was made."""
        causes = [
            self._of_origin(origin, depth + 1) if isinstance(origin, Expression) and depth < _DEEPEST else None
            for origin in self._project.origins(value)
        ]
        return causes[0] if causes and None not in causes else None

    def _of_origin(self, origin: Expression, depth: int) -> Expression | None:
        if isinstance(origin, Subscript):
            return origin if self._is_mask(origin.index) else None
        if isinstance(origin, Display):
            return self._of_list(origin, depth)
        if not isinstance(origin, Call):
            return None
        if last_name(origin.callee) in _SELECTS and self._is_of_torch(origin):
            return origin
        if self._project.certainly(origin.callee, *_JOINS) and origin.arguments:
            return self._cause(origin.arguments[0].value, depth)
        callee = origin.callee
        if isinstance(callee, Attribute) and callee.name in _KEEPS_SIZE and self._is_of_torch(origin):
            return self._cause(callee.base, depth)
        return None

    def _is_of_torch(self, call: Call) -> bool:
        """Whether a call is a function of torch, or a method that is not one of the project."""
        return self._project.resolver.function_of(call) is None

    def _is_mask(self, index: Expression) -> bool:
        """Whether an index picks the entries that fulfil a condition: ``x[x > 0]``."""
        origins = self._project.origins(index)
        return bool(origins) and all(self._is_condition(origin) for origin in origins)

    def _is_condition(self, origin: object) -> bool:
        if isinstance(origin, Operation) and origin.operator in _LOGIC:
            return all(map(self._is_mask, origin.operands))
        return isinstance(origin, Comparison) and _compares(origin)

    def _of_list(self, display: Display, depth: int) -> Expression | None:
        """Return why a list is as long as the data says: a test decides which of its items are put into it."""
        if display.items:
            return next(filter(None, (self._cause(item, depth) for item in display.items)), None)
        script = display.scope.script
        names = {binding.name for binding in self._project.uses(script).bindings(display) if not binding.path}
        puts = [
            call
            for call in script.calls_in(display.scope.function)
            if isinstance(call.callee, Attribute)
            and call.callee.name == "append"
            and isinstance(call.callee.base, Name)
            and call.callee.base.id in names
        ]
        return next((call for call in puts if self._is_picked(call)), None)

    def _is_picked(self, call: Call) -> bool:
        """Whether a comparison of what the loop around a call hands out decides if it is made."""
        for region in call.region.chain():
            if region.loop is not None:
                return False
            if region.kind is RegionKind.BRANCH and isinstance(region.test, Comparison) and call.region.loops:
                pieces = (piece for piece, _ in self._project.dependence.pieces(region.test))
                if _compares(region.test) and any(self._project.locality.handed_out(piece) for piece in pieces):
                    return True
        return False


def _compares(test: Comparison) -> bool:
    return all(operator in _ORDERS for operator, _ in test.comparisons)
