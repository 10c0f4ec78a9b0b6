"""The statements of a script by their nodes, and the expressions that stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Expression, Script
from ddplint.semantics.structure import Binding

if TYPE_CHECKING:
    import libcst as cst


class Statements:
    """Finds what was made of the nodes of a script."""

    def __init__(self, script: Script) -> None:
        self._expressions: dict[int, Expression] = {}
        for root in _roots(script):
            if root is not None and id(root.node) not in self._expressions:
                for part in root.walk():
                    self._expressions.setdefault(id(part.node), part)
        self._bindings: dict[int, Binding] = {}
        for scope in script.scopes:
            for bindings in scope.bindings.values():
                for binding in bindings:
                    self._bindings[id(binding.node)] = binding

    def all(self) -> Iterable[Expression]:
        """Return every expression that can be read."""
        return self._expressions.values()

    def expression(self, node: cst.CSTNode) -> Expression | None:
        """Return the expression of a node, None for one that nothing was made of."""
        return self._expressions.get(id(node))

    def binding(self, node: cst.CSTNode) -> Binding | None:
        """Return the binding that a target makes."""
        return self._bindings.get(id(node))


def _roots(script: Script) -> Iterator[Expression | None]:
    yield from script.calls
    yield from script.operations
    yield from script.attributes
    yield from script.names
    for scope in script.scopes:
        for bindings in scope.bindings.values():
            yield from (binding.value for binding in bindings)
    for store in script.stores:
        yield from (store.base, store.index, store.value)
    for loop in script.loops:
        yield from (loop.iterable, loop.test)
    yield from (leave.value for leave in script.exits)
    yield from script.asserted
    for call in script.calls:
        yield from (region.test for region in call.region.around())
