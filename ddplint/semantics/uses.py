"""What is made of an expression's value: the expression around it, the names and attributes that get it, its loops."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.semantics.expressions import Attribute, Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Binding, Function, Loop, Store


class Uses:
    """The uses of every expression of one script, found in one pass over it."""

    def __init__(self, script: Script) -> None:
        self._parents: dict[int, Expression] = {}
        self._reads: dict[int, list[Name]] = {}
        self._bindings: dict[int, list[Binding]] = {}
        self._stores: dict[int, list[Store]] = {}
        self._loops: dict[int, list[Loop]] = {}
        self._returned_by: dict[int, Function] = {}
        self._attributes: dict[str, list[Attribute]] = {}
        for attribute in script.attributes:
            self._attributes.setdefault(attribute.name, []).append(attribute)
        self._note_names(script)
        for store in script.stores:
            if store.value is not None:
                self._stores.setdefault(id(store.value), []).append(store)
        for loop in script.loops:
            if loop.iterable is not None:
                self._loops.setdefault(id(loop.iterable), []).append(loop)
        for function in script.functions:
            self._returned_by.update((id(value), function) for value in function.returns)
        self._note_parents(script)

    def parent(self, expression: Expression) -> Expression | None:
        """Return the expression that this one is directly part of, None for a whole one."""
        return self._parents.get(id(expression))

    def bindings(self, value: Expression) -> list[Binding]:
        """Return the bindings that an expression gives the value to."""
        return self._bindings.get(id(value), [])

    def reads(self, binding: Binding) -> list[Name]:
        """Return the names that can have the value of a binding."""
        return self._reads.get(id(binding), [])

    def stores(self, value: Expression) -> list[Store]:
        """Return the attributes and items into which an expression's value is put."""
        return self._stores.get(id(value), [])

    def loops(self, iterable: Expression) -> list[Loop]:
        """Return the loops that run over an expression."""
        return self._loops.get(id(iterable), [])

    def returned_by(self, value: Expression) -> Function | None:
        """Return the function that hands an expression's value to its callers."""
        return self._returned_by.get(id(value))

    def attributes(self, name: str) -> list[Attribute]:
        """Return where an attribute of this name is read."""
        return self._attributes.get(name, [])

    def _note_names(self, script: Script) -> None:
        bound = {
            id(binding): binding for scope in script.scopes for found in scope.bindings.values() for binding in found
        }
        for name in script.names:
            for binding in reaching(name.id, name) or ():
                self._reads.setdefault(id(binding), []).append(name)
                bound[id(binding)] = binding  # those of comprehensions are found through their names alone
        for binding in bound.values():
            if binding.value is not None:
                self._bindings.setdefault(id(binding.value), []).append(binding)

    def _note_parents(self, script: Script) -> None:
        seen: set[int] = set()
        for root in self._roots(script):
            pending = [root]
            while pending:
                expression = pending.pop()
                if id(expression) in seen:
                    continue
                seen.add(id(expression))
                for child in expression.children:
                    self._parents[id(child)] = expression
                    pending.append(child)

    def _roots(self, script: Script) -> Iterator[Expression]:
        yield from script.calls
        yield from script.attributes
        for store in script.stores:
            yield store.base
            yield from (part for part in (store.index, store.value) if part is not None)
        for loop in script.loops:
            yield from (part for part in (loop.iterable, loop.test) if part is not None)
        for function in script.functions:
            yield from function.returns
            yield from function.yields
        for leave in script.exits:
            yield from () if leave.value is None else (leave.value,)
        for bindings in self._bindings.values():
            yield from (binding.value for binding in bindings if binding.value is not None)
