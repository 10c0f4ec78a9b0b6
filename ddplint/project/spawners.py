"""Which calls start the processes that come to a function."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.semantics import Call
from ddplint.semantics.launchers import launched
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Function


def spawners(resolver: Resolver, function: Function) -> list[Call]:
    """Return the calls of ``spawn``, ``Process`` and the like that run a function, or one that leads to it."""
    return list(dict.fromkeys(_search(resolver, function, set())))


def _search(resolver: Resolver, function: Function, seen: set[int]) -> Iterator[Call]:
    if id(function) in seen:
        return
    seen.add(id(function))
    for call in function.script.calls:
        target = launched(resolver, call)
        if target is not None and function in resolver.origins(target):
            yield call
    calls, _ = resolver.linker.callers(function)
    for call in calls:
        if launched(resolver, call) is not None:
            yield call
        elif call.region.scope.function is not None:
            yield from _search(resolver, call.region.scope.function, seen)
