"""What is made of an expression's value: the expression around it, the names and attributes that get it, its loops."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.semantics.expressions import Attribute, Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Binding, Function, Loop, Scope, ScopeKind, Store


class Uses:
    """The uses of every expression of one script.

    What can be told from lists alone is found at once; names and statements are looked into when one of them is asked
    for, since most are not.
    """

    def __init__(self, script: Script) -> None:
        self._names: dict[str, list[Name]] = {}
        for name in script.names:
            self._names.setdefault(name.id, []).append(name)
        self._attributes: dict[str, list[Attribute]] = {}
        for attribute in script.attributes:
            self._attributes.setdefault(attribute.name, []).append(attribute)
        self._bindings = _by_value(binding for scope in _scopes(script) for binding in _bindings(scope))
        self._stores: dict[int, list[Store]] = {}
        self._changes: dict[int, list[Store]] = {}
        for store in script.stores:
            self._stores.setdefault(id(store.value), []).append(store)
            self._changes.setdefault(id(store.base), []).append(store)
        self._loops: dict[int, list[Loop]] = {}
        for loop in script.loops:
            self._loops.setdefault(id(loop.iterable), []).append(loop)
        self._returned_by = {id(value): function for function in script.functions for value in function.returns}
        self._roots: dict[int, list[Expression]] = {}
        for root in (*_roots(script), *(binding.value for found in self._bindings.values() for binding in found)):
            if root is not None:
                self._roots.setdefault(id(root.statement), []).append(root)
        self._parents: dict[int, Expression] = {}
        self._reads: dict[str, dict[int, list[Name]]] = {}

    def parent(self, expression: Expression) -> Expression | None:
        """Return the expression that this one is directly part of, None for a whole one."""
        pending = self._roots.pop(id(expression.statement), [])
        while pending:
            whole = pending.pop()
            for part in whole.children:
                if id(part) not in self._parents:
                    self._parents[id(part)] = whole
                    pending.append(part)
        return self._parents.get(id(expression))

    def bindings(self, value: Expression) -> list[Binding]:
        """Return the bindings that an expression gives the value to."""
        return self._bindings.get(id(value), [])

    def reads(self, binding: Binding) -> list[Name]:
        """Return the names that can have the value of a binding."""
        if binding.name not in self._reads:
            found = self._reads[binding.name] = {}
            for name in self._names.get(binding.name, ()):
                for reached in reaching(name.id, name) or ():
                    found.setdefault(id(reached), []).append(name)
        return self._reads[binding.name].get(id(binding), [])

    def stores(self, value: Expression) -> list[Store]:
        """Return the attributes and items into which an expression's value is put."""
        return self._stores.get(id(value), [])

    def changes(self, base: Expression) -> list[Store]:
        """Return the stores that set an attribute or an item of an expression's value."""
        return self._changes.get(id(base), [])

    def loops(self, iterable: Expression) -> list[Loop]:
        """Return the loops that run over an expression."""
        return self._loops.get(id(iterable), [])

    def returned_by(self, value: Expression) -> Function | None:
        """Return the function that hands an expression's value to its callers."""
        return self._returned_by.get(id(value))

    def attributes(self, name: str) -> list[Attribute]:
        """Return where an attribute of this name is read."""
        return self._attributes.get(name, [])


def _scopes(script: Script) -> Iterator[Scope]:
    yield script.scope
    yield from (each.scope for each in script.functions)
    yield from (each.scope for each in script.classes)
    scopes = (name.region.scope for name in script.names)
    yield from {id(scope): scope for scope in scopes if scope.kind is ScopeKind.COMPREHENSION}.values()


def _bindings(scope: Scope) -> Iterator[Binding]:
    return (binding for bindings in scope.bindings.values() for binding in bindings)


def _by_value(bindings: Iterator[Binding]) -> dict[int, list[Binding]]:
    found: dict[int, list[Binding]] = {}
    for binding in bindings:
        if binding.value is not None:
            found.setdefault(id(binding.value), []).append(binding)
    return found


def _roots(script: Script) -> Iterator[Expression | None]:
    """Yield expressions below which all those lie that have a parent; some of them more than once."""
    yield from script.calls
    yield from script.attributes
    for store in script.stores:
        yield from (store.base, store.index, store.value)
    for loop in script.loops:
        yield from (loop.iterable, loop.test)
    for function in script.functions:
        yield from (*function.returns, *function.yields)
    yield from (leave.value for leave in script.exits)
