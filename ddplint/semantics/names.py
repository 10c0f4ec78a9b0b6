"""What a name stands for: the dotted names of imported things, through aliases and the files of a project."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from ddplint.semantics.expressions import Attribute, Call, Conditional, Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Binding, BindingKind, Function, Scope
from ddplint.semantics.torch_names import canonical

UNKNOWN_NAME = "?"
LOCAL = "<here>."
MODULE = "<module>."
BUILTINS = frozenset(dir(builtins))
DEEPEST = 24
Definition: TypeAlias = tuple[Script, Sequence[Binding]]
# What a linker says of the callers of a function while it is still looking for them.
UNSETTLED: tuple[Sequence[Call], bool] = ((), False)


class Linker(Protocol):
    """What other files know."""

    def definition(self, script: Script, name: str) -> Definition | None:
        """Return the bindings of a name that a script imports from a file of the project."""

    def callers(self, function: Function) -> tuple[Sequence[Call], bool]:
        """Return the calls of a function that can be seen, and whether these are all."""

    def star(self, script: Script, module: str, name: str) -> bool:
        """Whether ``from module import *`` in a script can bind ``name``."""


class NameResolver:
    """Answers for the names of every script that its linker knows."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self._names: dict[int, frozenset[str]] = {}
        self._naming: set[int] = set()

    def names(self, expression: Expression) -> frozenset[str]:
        """Return every dotted name that an expression can stand for; ``?`` among them: something else, too.

        Things defined in the project are named ``<here>.`` and their own name.
        """
        known = self._names.get(id(expression))
        if known is not None:
            return known
        if id(expression) in self._naming or len(self._naming) > DEEPEST:
            return frozenset([UNKNOWN_NAME])
        self._naming.add(id(expression))
        try:
            found = frozenset(self._names_of(expression))
        finally:
            self._naming.discard(id(expression))
        if not self._naming:
            self._names[id(expression)] = found
        return found

    def _names_of(self, expression: Expression) -> Iterator[str]:
        if isinstance(expression, Name):
            yield from self._names_of_name(expression)
        elif isinstance(expression, Attribute):
            for base in self.names(expression.base):
                yield from self._names_of_member(expression, base)
        elif isinstance(expression, Conditional):
            yield from self.names(expression.then) | self.names(expression.otherwise)
        else:
            yield UNKNOWN_NAME

    def _names_of_name(self, name: Name) -> Iterator[str]:
        bindings = reaching(name.id, name)
        if bindings is None:
            stars = self.stars_that_bind(name)
            for star in stars:
                yield from self._names_of_import(name.scope.script, f"{star}.{name.id}")
            if not stars:
                yield f"builtins.{name.id}" if name.id in BUILTINS else UNKNOWN_NAME
            return
        for binding in bindings:
            yield from self._names_of_binding(name.scope.script, binding)
        if not bindings:
            yield UNKNOWN_NAME

    def stars_that_bind(self, name: Name) -> list[str]:
        return [star for star in _stars(name.region.scope) if self.linker.star(name.scope.script, star, name.id)]

    def _names_of_binding(self, script: Script, binding: Binding) -> Iterator[str]:
        if binding.kind is BindingKind.IMPORT:
            yield from self._names_of_import(script, binding.imported)
        elif binding.kind in (BindingKind.FUNCTION, BindingKind.CLASS):
            yield LOCAL + binding.name
        elif binding.kind is BindingKind.ASSIGNMENT and binding.value is not None and not binding.path:
            yield from self.names(binding.value)
        else:
            yield UNKNOWN_NAME

    def _names_of_import(self, script: Script, name: str) -> Iterator[str]:
        definition = self.linker.definition(script, name)
        if definition is None:
            yield canonical(name)
            return
        where, bindings = definition
        if not bindings:
            yield MODULE + name
        for binding in bindings:
            key = id(binding)
            if key in self._naming:  # two files import the name from each other
                yield UNKNOWN_NAME
                continue
            self._naming.add(key)
            try:
                yield from self._names_of_binding(where, binding)
            finally:
                self._naming.discard(key)

    def _names_of_member(self, expression: Attribute, base: str) -> Iterator[str]:
        if base == UNKNOWN_NAME:
            yield UNKNOWN_NAME
        elif base.startswith(MODULE):
            yield from self._names_of_import(expression.scope.script, f"{base.removeprefix(MODULE)}.{expression.name}")
        elif base.startswith(LOCAL):
            yield f"{base}.{expression.name}"
        else:
            yield from self._names_of_import(expression.scope.script, f"{base}.{expression.name}")


def _stars(scope: Scope) -> Iterator[str]:
    current: Scope | None = scope
    while current is not None:
        yield from current.stars
        current = current.parent
