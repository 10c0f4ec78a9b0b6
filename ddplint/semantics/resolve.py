"""What a name stands for and where a value comes from.

``names`` answers with dotted names of imported things; ``origins`` goes back from an expression to what made its
value: calls, constants, parameters nobody is seen to give, functions, classes. Both answer with every possibility
and say unknown where they lose the trail.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ddplint.semantics.expressions import (
    Assigned,
    Attribute,
    Call,
    Conditional,
    Constant,
    Expression,
    Logic,
    Mapping,
    Name,
    Passed,
    Subscript,
)
from ddplint.semantics.expressions import Sequence as Display
from ddplint.semantics.reaching import reaching
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Binding, BindingKind, Class, Function, Parameter, Scope, Store
from ddplint.semantics.torch_names import canonical

UNKNOWN_NAME = "?"
LOCAL = "<here>."
MODULE = "<module>."
_DEEPEST = 24
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Imported:
    """Something that is imported and not part of what can be read: its documented dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """An element of a value that can't be taken apart: what a loop hands out, or an unpacked piece."""

    of: Expression


class Unknown:
    """The trail is lost."""


UNKNOWN = Unknown()
Origin: TypeAlias = Expression | Parameter | Function | Class | Imported | Part | Unknown
Definition: TypeAlias = tuple[Script, Sequence[Binding]]


class Linker(Protocol):
    """What other files know."""

    def definition(self, script: Script, name: str) -> Definition | None:
        """Return the bindings of a name that a script imports from a file of the project."""

    def callers(self, function: Function) -> tuple[Sequence[Call], bool]:
        """Return the calls of a function that can be seen, and whether these are all."""

    def star(self, script: Script, module: str, name: str) -> bool:
        """Whether ``from module import *`` in a script can bind ``name``."""


class Resolver:
    """Answers for the expressions of every script that its linker knows."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self._names: dict[int, frozenset[str]] = {}
        self._origins: dict[int, tuple[Origin, ...]] = {}
        self._naming: set[int] = set()
        self._tracing: set[int] = set()

    # Names.

    def names(self, expression: Expression) -> frozenset[str]:
        """Return every dotted name that an expression can stand for; ``?`` among them: something else, too.

        Things defined in the project are named ``<here>.`` and their own name.
        """
        known = self._names.get(id(expression))
        if known is not None:
            return known
        if id(expression) in self._naming or len(self._naming) > _DEEPEST:
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
            stars = [star for star in _stars(name.region.scope) if self.linker.star(name.scope.script, star, name.id)]
            for star in stars:
                yield from self._names_of_import(name.scope.script, f"{star}.{name.id}")
            if not stars:
                yield f"builtins.{name.id}" if name.id in _BUILTINS else UNKNOWN_NAME
            return
        for binding in bindings:
            yield from self._names_of_binding(name.scope.script, binding)
        if not bindings:
            yield UNKNOWN_NAME

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
            yield from self._names_of_binding(where, binding)

    def _names_of_member(self, expression: Attribute, base: str) -> Iterator[str]:
        if base == UNKNOWN_NAME:
            yield UNKNOWN_NAME
        elif base.startswith(MODULE):
            yield from self._names_of_import(expression.scope.script, f"{base.removeprefix(MODULE)}.{expression.name}")
        elif base.startswith(LOCAL):
            yield f"{base}.{expression.name}"
        else:
            yield from self._names_of_import(expression.scope.script, f"{base}.{expression.name}")

    # Origins.

    def origins(self, expression: Expression) -> tuple[Origin, ...]:
        """Return what can have made the value of an expression, every possibility once."""
        known = self._origins.get(id(expression))
        if known is not None:
            return known
        if id(expression) in self._tracing or len(self._tracing) > _DEEPEST:
            return (UNKNOWN,)
        self._tracing.add(id(expression))
        try:
            found = tuple(dict.fromkeys(self._origins_of(expression)))
        finally:
            self._tracing.discard(id(expression))
        if not self._tracing:
            self._origins[id(expression)] = found
        return found

    def _origins_of(self, expression: Expression) -> Iterator[Origin]:
        if isinstance(expression, Name):
            yield from self._origins_of_name(expression)
        elif isinstance(expression, Attribute):
            yield from self._origins_of_attribute(expression)
        elif isinstance(expression, Subscript):
            yield from self._origins_of_item(expression)
        elif isinstance(expression, Conditional):
            yield from self.origins(expression.then)
            yield from self.origins(expression.otherwise)
        elif isinstance(expression, Logic):
            for operand in expression.operands:
                yield from self.origins(operand)
        elif isinstance(expression, Assigned) or (isinstance(expression, Passed) and expression.kind == "await"):
            yield from self.origins(expression.value) if expression.value is not None else (UNKNOWN,)
        elif isinstance(expression, Call):
            yield from self._origins_of_call(expression)
        else:
            yield expression

    def _origins_of_name(self, name: Name) -> Iterator[Origin]:
        bindings = reaching(name.id, name)
        if not bindings:
            for found in self.names(name):
                yield UNKNOWN if found == UNKNOWN_NAME or found.startswith(LOCAL) else Imported(found)
            return
        for binding in bindings:
            yield from self._origins_of_binding(name.scope.script, binding)

    def _origins_of_binding(self, script: Script, binding: Binding) -> Iterator[Origin]:
        if binding.kind is BindingKind.PARAMETER and binding.parameter is not None:
            yield from self.given(binding.parameter)
        elif binding.kind is BindingKind.FUNCTION and binding.function is not None:
            yield binding.function
        elif binding.kind is BindingKind.CLASS and binding.cls is not None:
            yield binding.cls
        elif binding.kind is BindingKind.IMPORT:
            yield from self._origins_of_import(script, binding.imported)
        elif binding.value is None:
            yield UNKNOWN
        elif binding.kind is BindingKind.LOOP:
            yield Part(binding.value)
        else:
            yield from self._parts(binding.value, binding.path)

    def _origins_of_import(self, script: Script, name: str) -> Iterator[Origin]:
        definition = self.linker.definition(script, name)
        if definition is None:
            yield Imported(canonical(name))
            return
        where, bindings = definition
        for binding in bindings:
            yield from self._origins_of_binding(where, binding)

    def _parts(self, value: Expression, path: Sequence[int | None]) -> Iterator[Origin]:
        if not path:
            yield from self.origins(value)
            return
        for origin in self.origins(value):
            index = path[0]
            if isinstance(origin, Display) and index is not None and -len(origin.items) <= index < len(origin.items):
                yield from self._parts(origin.items[index], path[1:])
            elif isinstance(origin, Expression):
                yield Part(origin)
            else:
                yield UNKNOWN

    def given(self, parameter: Parameter) -> Iterator[Origin]:
        """Yield what callers hand to a parameter; the parameter itself when a caller can't be seen."""
        function = parameter.function
        if function.cls is not None and parameter.index == 0 and not _is_static(function):
            yield parameter
            return
        calls, complete = self.linker.callers(function)
        if not calls or not complete:
            yield parameter
        for call in calls:
            given = self.bound(call, function).get(parameter.name)
            if given is not None:
                yield from self.origins(given)
            elif parameter.default is not None:
                yield from self.origins(parameter.default)
            else:
                yield UNKNOWN

    def bound(self, call: Call, function: Function) -> dict[str, Expression]:
        """Return which argument of a call each parameter of a function gets; starred arguments are left out."""
        positional = [parameter for parameter in function.parameters if parameter.kind == "positional"]
        if function.cls is not None and not _is_static(function):
            positional = positional[1:]
        given: dict[str, Expression] = {}
        for number, argument in enumerate(call.arguments):
            if argument.star:
                continue
            if argument.keyword is not None:
                given[argument.keyword] = argument.value
            elif number < len(positional) and not any(before.star for before in call.arguments[:number]):
                given[positional[number].name] = argument.value
        return given

    def _origins_of_attribute(self, expression: Attribute) -> Iterator[Origin]:
        stores = tuple(self.stores_of(expression))
        if stores:
            for store in stores:
                yield from self._parts(store.value, store.path) if store.value is not None else (UNKNOWN,)
            return
        for name in self.names(expression):
            if name == UNKNOWN_NAME or name.startswith(MODULE):
                yield expression
            elif name.startswith(LOCAL):
                yield from self._origins_of_member(expression)
            else:
                yield Imported(name)

    def _origins_of_member(self, expression: Attribute) -> Iterator[Origin]:
        """Yield what ``module.name`` stands for when the module is the project's."""
        for base in self.names(expression.base):
            if base.startswith(MODULE):
                name = f"{base.removeprefix(MODULE)}.{expression.name}"
                yield from self._origins_of_import(expression.scope.script, name)
            else:
                yield expression

    def stores_of(self, expression: Attribute) -> Iterator[Store]:
        """Yield what is put into this attribute: of the same object in the same class, function or file."""
        cls = self.class_of(expression.base)
        script = expression.scope.script if cls is None else cls.scope.script
        chain = _chain(expression.base)
        for store in script.attribute_stores.get(expression.name, ()):
            if self.class_of(store.base) is cls if cls is not None else chain and _chain(store.base) == chain:
                yield store

    def written_later(self, expression: Expression) -> bool:
        """Whether items of the mapping that an expression reads are set apart from its display."""
        chain = _chain(expression)
        return any(_chain(store.base) == chain for store in expression.scope.script.item_stores)

    def class_of(self, expression: Expression) -> Class | None:
        """Return the project's class whose instance an expression is: ``self`` in a method, or a call of the class."""
        for origin in self.origins(expression):
            if isinstance(origin, Parameter) and origin.index == 0 and not _is_static(origin.function):
                return origin.function.cls
            if isinstance(origin, Call):
                for made in self.origins(origin.callee):
                    if isinstance(made, Class):
                        return made
        return None

    def _origins_of_item(self, expression: Subscript) -> Iterator[Origin]:
        key = expression.index.value if isinstance(expression.index, Constant) else None
        found = False
        for origin in self.origins(expression.base):
            for value in _items(origin, key):
                found = True
                yield from self.origins(value)
        for store in self._item_stores(expression, key):
            found = True
            yield from self._parts(store.value, store.path) if store.value is not None else (UNKNOWN,)
        if not found:
            yield expression

    def _item_stores(self, expression: Subscript, key: object) -> Iterator[Store]:
        """Yield what is put under a constant key of the mapping that an expression reads from."""
        chain = _chain(expression.base)
        for store in expression.scope.script.item_stores if chain and key is not None else ():
            if isinstance(store.index, Constant) and store.index.value == key and _chain(store.base) == chain:
                yield store

    def _origins_of_call(self, call: Call) -> Iterator[Origin]:
        function = self.function_of(call)
        if function is None or function.yields or not function.returns or function.name == "__init__":
            yield call
            return
        for value in function.returns:
            yield from self.origins(value)

    def function_of(self, call: Call) -> Function | None:
        """Return the project's function that a call runs, ``__init__`` for a class; None when it isn't certain."""
        callee = call.callee
        candidates = list(self.origins(callee)) if not isinstance(callee, Attribute) else list(self._methods(callee))
        if len(candidates) != 1:
            return None
        only = candidates[0]
        if isinstance(only, Class):
            return only.methods.get("__init__")
        return only if isinstance(only, Function) else None

    def _methods(self, callee: Attribute) -> Iterator[Origin]:
        cls = self.class_of(callee.base)
        while cls is not None:
            if callee.name in cls.methods:
                yield cls.methods[callee.name]
                return
            bases = [origin for base in cls.bases for origin in self.origins(base) if isinstance(origin, Class)]
            cls = bases[0] if len(bases) == 1 and bases[0] is not cls else None
        yield from self._origins_of_attribute(callee)


def _is_static(function: Function) -> bool:
    return any(isinstance(decorator, Name) and decorator.id == "staticmethod" for decorator in function.decorators)


def _stars(scope: Scope) -> Iterator[str]:
    current: Scope | None = scope
    while current is not None:
        yield from current.stars
        current = current.parent


def _chain(expression: Expression) -> str:
    """Return ``a.b.c`` for a chain of plain names as it is written, else an empty string."""
    if isinstance(expression, Name):
        return expression.id
    if isinstance(expression, Attribute):
        base = _chain(expression.base)
        return f"{base}.{expression.name}" if base else ""
    return ""


def _items(origin: Origin, key: object) -> Iterator[Expression]:
    if isinstance(origin, Mapping):
        for item_key, value in origin.items:
            if isinstance(item_key, Constant) and item_key.value == key and key is not None:
                yield value
    elif isinstance(origin, Display) and type(key) is int and -len(origin.items) <= key < len(origin.items):
        yield origin.items[key]


__all__ = [
    "LOCAL",
    "MODULE",
    "UNKNOWN",
    "UNKNOWN_NAME",
    "Definition",
    "Imported",
    "Linker",
    "Origin",
    "Part",
    "Resolver",
    "Unknown",
]
