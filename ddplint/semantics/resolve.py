"""Where a value comes from: back from an expression to the calls, constants, parameters that made it.

The answer holds every possibility and says unknown where the trail is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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
from ddplint.semantics.launchers import launched_arguments, process_index
from ddplint.semantics.names import BUILTINS, DEEPEST, LOCAL, MODULE, UNKNOWN_NAME, UNSETTLED, Linker, NameResolver
from ddplint.semantics.reaching import reaching
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Binding, BindingKind, Class, Function, Parameter, Store
from ddplint.semantics.torch_names import canonical


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
# Methods with which a mapping gets items.
_UPDATES = frozenset({"update", "setdefault"})
Origin: TypeAlias = Expression | Parameter | Function | Class | Imported | Part | Unknown


class Resolver(NameResolver):
    """Answers for the expressions of every script that its linker knows."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self._names: dict[int, frozenset[str]] = {}
        self._origins: dict[int, tuple[Origin, ...]] = {}
        self._naming: set[int] = set()
        self._tracing: dict[int, int] = {}
        self._classes: dict[int, Class | None] = {}
        self._functions: dict[int, Function | None] = {}
        self._cut = DEEPEST
        self._meanwhile: list[dict[int, tuple[Origin, ...]]] = []

    def origins(self, expression: Expression) -> tuple[Origin, ...]:
        """Return what can have made the value of an expression, every possibility once."""
        known = self._origins.get(id(expression))
        if known is not None:
            return known
        depth = len(self._tracing)
        if id(expression) in self._tracing or depth >= DEEPEST:
            self._cut = min(self._cut, self._tracing.get(id(expression), 0))
            return (UNKNOWN,)
        for level, answers in enumerate(self._meanwhile):
            if id(expression) in answers:
                self._cut = min(self._cut, level)
                return answers[id(expression)]
        return self._trace(expression, depth)

    def _trace(self, expression: Expression, depth: int) -> tuple[Origin, ...]:
        """Answer a question anew, and keep the answer.

        An answer that left something out, because a question further out is still open, holds until that one is
        answered: what is missing is a part of the outer answer anyway.
        """
        outer_cut, self._cut = self._cut, DEEPEST
        self._tracing[id(expression)] = depth
        self._meanwhile.extend({} for _ in range(depth + 1 - len(self._meanwhile)))
        try:
            found = tuple(dict.fromkeys(self._origins_of(expression)))
        finally:
            del self._tracing[id(expression)]
            del self._meanwhile[depth:]
            cut, self._cut = self._cut, min(self._cut, outer_cut)
        if cut >= depth:
            self._origins[id(expression)] = found
        elif cut >= 0:
            self._meanwhile[cut][id(expression)] = found
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
            for star in self.stars_that_bind(name):
                yield from self._origins_of_import(name.scope.script, f"{star}.{name.id}")
                return
            yield Imported(f"builtins.{name.id}") if name.id in BUILTINS else UNKNOWN
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
            key = id(binding)
            if key in self._tracing:  # two files import the name from each other
                self._cut = min(self._cut, self._tracing[key])
                yield UNKNOWN
                continue
            self._tracing[key] = len(self._tracing)
            try:
                yield from self._origins_of_binding(where, binding)
            finally:
                del self._tracing[key]

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
        if function.cls is not None and parameter.index == 0 and not is_static(function):
            yield parameter
            return
        calls, complete = answer = self.linker.callers(function)
        if answer is UNSETTLED:
            self._cut = -1
        if not calls or not complete:
            yield parameter
        for call in calls:
            given = self.bound(call, function).get(parameter.name)
            if given is not None:
                yield from self.origins(given)
            elif parameter.default is not None:
                yield from self.origins(parameter.default)
            elif process_index(self, call, function) == parameter.name:
                yield parameter
            else:
                yield UNKNOWN

    def bound(self, call: Call, function: Function) -> dict[str, Expression]:
        """Return which argument of a call each parameter of a function gets; starred arguments are left out."""
        launched = launched_arguments(self, call, function)
        if launched is not None:
            return launched
        positional = [parameter for parameter in function.parameters if parameter.kind == "positional"]
        if function.cls is not None and not is_static(function):
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
        members = [base for base in self.names(expression.base) if base.startswith(MODULE)]
        for base in members:
            yield from self._origins_of_import(
                expression.scope.script, f"{base.removeprefix(MODULE)}.{expression.name}"
            )
        if members:
            return
        settled = False
        for store in self.stores_of(expression):
            settled |= self.class_of(store.base) is not None or _always_before(store, expression)
            yield from self._parts(store.value, store.path) if store.value is not None else (UNKNOWN,)
        cls = self.class_of(expression.base)
        if cls is not None:
            for binding in cls.scope.bindings.get(expression.name, ()):
                settled = True
                yield from self._origins_of_binding(cls.scope.script, binding)
        if not settled:
            for name in self.names(expression):
                yield expression if name[0] in f"{UNKNOWN_NAME}<" else Imported(name)

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
        chain, script = _chain(expression), expression.scope.script
        changed = [store.base for store in script.item_stores]
        callees = (call.callee for call in script.calls)
        changed += [callee.base for callee in callees if isinstance(callee, Attribute) and callee.name in _UPDATES]
        return bool(chain) and any(_chain(base) == chain for base in changed)

    def class_of(self, expression: Expression) -> Class | None:
        """Return the project's class whose instance an expression is: ``self`` in a method, or a call of the class."""
        if id(expression) in self._classes:
            return self._classes[id(expression)]
        found = self._class_of(expression)
        if not self._tracing:
            self._classes[id(expression)] = found
        return found

    def _class_of(self, expression: Expression) -> Class | None:
        for origin in self.origins(expression):
            if isinstance(origin, Parameter) and origin.index == 0 and not is_static(origin.function):
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
        if id(call) in self._functions:
            return self._functions[id(call)]
        found = self._function_of(call)
        if not self._tracing:
            self._functions[id(call)] = found
        return found

    def _function_of(self, call: Call) -> Function | None:
        callee = call.callee
        candidates = list(self.origins(callee)) if not isinstance(callee, Attribute) else list(self._methods(callee))
        if len(candidates) != 1:
            return None
        only = candidates[0]
        if isinstance(only, Class):
            return self.method(only, "__init__")
        return only if isinstance(only, Function) else None

    def _methods(self, callee: Attribute) -> Iterator[Origin]:
        cls = self.class_of(callee.base)
        method = None if cls is None else self.method(cls, callee.name)
        if method is not None:
            yield method
        else:
            yield from self._origins_of_attribute(callee)

    def method(self, cls: Class, name: str) -> Function | None:
        """Return a method that a class has, of its own or from the classes of the project that it derives from."""
        return next((heir.methods[name] for heir in self.lineage(cls) if name in heir.methods), None)

    def lineage(self, cls: Class) -> tuple[Class, ...]:
        """Return a class and all classes of the project that it derives from, the nearest first."""
        found = [cls]
        for heir in found:
            bases = (origin for base in heir.bases for origin in self.origins(base))
            found.extend(base for base in bases if isinstance(base, Class) and base not in found)
        return tuple(found)

    def kinds(self, callee: Expression) -> frozenset[str]:
        """Return every documented name that an expression, as a class, stands for or derives from.

        ``?`` among them: it can be or derive from something else, too. Classes of the project are left out.
        """
        found = set(self.names(callee))
        for cls in self.classes(callee):
            found.update(*(self.names(base) for heir in self.lineage(cls) for base in heir.bases))
        return frozenset(name for name in found if not name.startswith(LOCAL))

    def classes(self, callee: Expression) -> tuple[Class, ...]:
        """Return the classes of the project that an expression names; one kept in a variable elsewhere is no name."""
        if not any(name.startswith(LOCAL) for name in self.names(callee)):
            return ()
        return tuple(origin for origin in self.origins(callee) if isinstance(origin, Class))


def is_static(function: Function) -> bool:
    """Whether a method gets no instance: a ``staticmethod``."""
    return any(isinstance(decorator, Name) and decorator.id == "staticmethod" for decorator in function.decorators)


def _always_before(store: Store, read: Expression) -> bool:
    """Whether a read always comes after a store in the same function."""
    return store.order < read.order and read.region.within(store.region) and store.region.scope is read.region.scope


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
