"""Where a script writes and reads environment variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ddplint.semantics.expressions import Attribute, Call, Constant, Expression, Mapping, Name, last_name
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Store

_ENVIRONMENT = frozenset({"os.environ"})
_WRITERS = frozenset({"setdefault", "update", "putenv"})
_GETTERS = frozenset({"get", "getenv", "pop"})
_READERS = frozenset({"os.environ.get", "os.getenv", "os.environ.pop"})
_COPIES = frozenset({"os.environ.copy", "builtins.dict", "copy.copy", "copy.deepcopy"})


class WriteForm(Enum):
    """How a variable is written."""

    ITEM = "set, whatever it was before"
    DEFAULT = "set unless it was set before"
    UPDATE = "set with others by update"
    PUTENV = "set by putenv"
    CHILD = "set in a copy of the environment, for a child"


@dataclass(frozen=True, slots=True, eq=False)
class EnvironmentWrite:
    """One write of a variable: the value, how it is written, and the store or the call that does it."""

    variable: str
    value: Expression
    form: WriteForm
    at: Store | Call


@dataclass(frozen=True, slots=True, eq=False)
class EnvironmentRead:
    """One read of a variable; ``default`` is what it gives where the variable is not set.

    ``must_exist``: it raises KeyError then, else None stands for a default that is not given.
    """

    variable: str
    at: Expression
    default: Expression | None
    must_exist: bool


def environment_reads(resolver: Resolver, script: Script) -> Iterator[EnvironmentRead]:
    """Yield the reads of variables of which the name is written out, in no particular order."""
    for subscript in script.subscripts:
        variable = _text(subscript.index)
        if variable is not None and resolver.names(subscript.base) == _ENVIRONMENT:
            yield EnvironmentRead(variable, subscript, None, must_exist=True)
    for call in script.calls:
        if last_name(call.callee) in _GETTERS and call.arguments:
            variable = _text(call.arguments[0].value)
            names = resolver.names(call.callee)
            if variable is not None and names <= _READERS:
                defaults = [given.value for given in call.arguments[1:]]
                must_exist = names == {"os.environ.pop"} and not defaults
                yield EnvironmentRead(variable, call, defaults[0] if defaults else None, must_exist)


def environment_writes(resolver: Resolver, script: Script, variable: str) -> Iterator[EnvironmentWrite]:
    """Yield the writes of a variable in a script, in no particular order."""
    for store in script.item_stores:
        is_variable = isinstance(store.index, Constant) and store.index.value == variable
        if is_variable and store.value is not None and not store.path:
            if resolver.names(store.base) == _ENVIRONMENT:
                yield EnvironmentWrite(variable, store.value, WriteForm.ITEM, store)
            elif _is_copy(resolver, store.base):
                yield EnvironmentWrite(variable, store.value, WriteForm.CHILD, store)
    for call in script.calls:
        yield from _written_by(resolver, call, variable)


def _written_by(resolver: Resolver, call: Call, variable: str) -> Iterator[EnvironmentWrite]:
    callee = call.callee
    name = callee.id if isinstance(callee, Name) else callee.name if isinstance(callee, Attribute) else ""
    if name not in _WRITERS:
        return
    names = resolver.names(callee)
    if names == {"os.environ.setdefault"} or names == {"os.putenv"}:
        form = WriteForm.PUTENV if "os.putenv" in names else WriteForm.DEFAULT
        given = [argument.value for argument in call.arguments]
        if len(given) == 2 and isinstance(given[0], Constant) and given[0].value == variable:
            yield EnvironmentWrite(variable, given[1], form, call)
    elif names == {"os.environ.update"}:
        for argument in call.arguments:
            if argument.keyword == variable:
                yield EnvironmentWrite(variable, argument.value, WriteForm.UPDATE, call)
            for value in _items(resolver, argument.value, variable):
                yield EnvironmentWrite(variable, value, WriteForm.UPDATE, call)


def _text(expression: Expression) -> str | None:
    return expression.value if isinstance(expression, Constant) and isinstance(expression.value, str) else None


def _items(resolver: Resolver, mapping: Expression, key: str) -> Iterator[Expression]:
    for origin in resolver.origins(mapping):
        for item_key, value in origin.items if isinstance(origin, Mapping) else ():
            if isinstance(item_key, Constant) and item_key.value == key:
                yield value


def _is_copy(resolver: Resolver, base: Expression) -> bool:
    """Whether a mapping was made from the environment of this process."""
    makers = [origin for origin in resolver.origins(base) if isinstance(origin, Call)]
    return any(
        resolver.names(maker.callee) <= _COPIES
        and any(resolver.names(part) == _ENVIRONMENT for part in maker.walk() if part is not maker)
        for maker in makers
    )
