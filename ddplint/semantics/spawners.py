"""Which calls of a file start processes, and which of these come to a function."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.semantics.expressions import Attribute, Call, Name
from ddplint.semantics.launchers import launched
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Function

_NAMES = frozenset({"spawn", "start_processes", "Process"})


def launches(resolver: Resolver, script: Script) -> list[Call]:
    """Return the calls of a script that start processes."""
    named = (call for call in script.calls if _last_name(call) in _NAMES)
    return [call for call in named if launched(resolver, call) is not None]


def spawners(resolver: Resolver, function: Function) -> list[Call]:
    """Return the calls of ``spawn``, ``Process`` and the like that run a function, or one that leads to it.

    Only the function's own file is searched.
    """
    return list(dict.fromkeys(_search(resolver, function, set())))


def _search(resolver: Resolver, function: Function, seen: set[int]) -> Iterator[Call]:
    if id(function) in seen:
        return
    seen.add(id(function))
    for call in launches(resolver, function.script):
        target = launched(resolver, call)
        if target is not None and function in resolver.origins(target):
            yield call
    for call in function.script.calls:
        caller = call.region.scope.function
        if caller is not None and _last_name(call) == function.name and resolver.function_of(call) is function:
            yield from _search(resolver, caller, seen)


def _last_name(call: Call) -> str:
    callee = call.callee
    return callee.id if isinstance(callee, Name) else callee.name if isinstance(callee, Attribute) else ""
