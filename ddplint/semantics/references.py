"""Where a script reads an imported thing, and what it does with it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ddplint.semantics.expressions import Attribute, Call, Expression, Name
from ddplint.semantics.fallbacks import is_fallback
from ddplint.semantics.names import NameResolver
from ddplint.semantics.reaching import reaching
from ddplint.semantics.script import Script
from ddplint.semantics.structure import BindingKind

_TYPE_TESTS = frozenset({"isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"})


class Use(Enum):
    """What is done with a thing where it is read."""

    CALLED = "called"
    DECORATOR = "put over a function or a class without being called"
    TYPE = "named as a type, in an annotation or a type test"
    VALUE = "handed on"


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A place that reads an imported thing: its documented name, the whole expression, and the call if it is one."""

    name: str
    expression: Name | Attribute
    use: Use
    call: Call | None = None

    @property
    def root(self) -> Name | None:
        """The name with which the expression starts."""
        start: Expression = self.expression
        while isinstance(start, Attribute):
            start = start.base
        return start if isinstance(start, Name) else None

    @property
    def is_fallback(self) -> bool:
        """Whether the script reads the thing only on some versions of its library."""
        return is_fallback(self.expression)


class References:
    """The references in one script to what it imports."""

    def __init__(self, names: NameResolver, script: Script) -> None:
        self._names = names
        self._script = script
        self._calls = {id(call.callee): call for call in script.calls}
        self._members = {id(attribute.base): attribute for attribute in script.attributes}
        self._decorators = set(_decorators(script))
        self._types = set(_types(script))

    def to(self, *wanted: str) -> list[Reference]:
        """Return the places that read a thing of one of these documented names and can't read anything else.

        A variable to which the thing was assigned is none: the place that was assigned from is. Nor is a place that
        reads only an attribute of the thing.
        """
        whole = (candidate for candidate in self._candidates(wanted) if id(candidate) not in self._members)
        return [found for candidate in whole if (found := self._at(candidate, wanted)) is not None]

    def through(self, read: Name, *wanted: str) -> Reference | None:
        """Return the reference that starts with a name that is read, None when the name is used for something else."""
        expression: Name | Attribute | None = read
        while expression is not None:
            found = self._at(expression, wanted)
            if found is not None:
                return found
            expression = self._members.get(id(expression))
        return None

    def _candidates(self, wanted: tuple[str, ...]) -> Iterator[Name | Attribute]:
        last = {name.rpartition(".")[2] for name in wanted}
        # What a name stands for is the dear question: most names of a file are bound by no such import.
        bound = last.union(*(self._script.imported_as.get(word, ()) for word in last))
        yield from (name for name in self._script.names if name.id in bound and _is_import_of(name, last))
        yield from (attribute for attribute in self._script.attributes if attribute.name in last)

    def _at(self, expression: Name | Attribute, wanted: tuple[str, ...]) -> Reference | None:
        names = self._names.names(expression)
        if len(names) != 1 or names.isdisjoint(wanted):
            return None
        call = self._calls.get(id(expression))
        return Reference(next(iter(names)), expression, self._use(expression, call), call)

    def _use(self, expression: Expression, call: Call | None) -> Use:
        if call is not None:
            return Use.CALLED
        if id(expression) in self._decorators:
            return Use.DECORATOR
        return Use.TYPE if id(expression) in self._types else Use.VALUE


def _is_import_of(name: Name, last: set[str]) -> bool:
    """Whether a name stands for what imports bind, one of these among it; without a binding a star may bind it."""
    bindings = reaching(name.id, name)
    if bindings is None:
        return name.id in last
    imported = [binding.imported for binding in bindings if binding.kind is BindingKind.IMPORT]
    return len(imported) == len(bindings) and any(full.rpartition(".")[2] in last for full in imported)


def _decorators(script: Script) -> Iterator[int]:
    for function in script.functions:
        yield from map(id, function.decorators)
    for cls in script.classes:
        yield from map(id, cls.decorators)


def _types(script: Script) -> Iterator[int]:
    for function in script.functions:
        for parameter in function.parameters:
            if parameter.annotation is not None:
                yield from map(id, parameter.annotation.walk())
    for call in script.calls:
        callee = call.callee
        name = callee.id if isinstance(callee, Name) else callee.name if isinstance(callee, Attribute) else ""
        if name in _TYPE_TESTS and len(call.arguments) > 1:
            yield from map(id, call.arguments[1].value.walk())
