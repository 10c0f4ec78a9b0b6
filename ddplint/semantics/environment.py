"""Where a script writes environment variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ddplint.semantics.expressions import Attribute, Call, Constant, Expression, Mapping, Name
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Store

_ENVIRONMENT = frozenset({"os.environ"})
_WRITERS = frozenset({"setdefault", "update", "putenv"})
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
