"""Which code can run because other code runs: through calls, callbacks and the methods of objects that are made."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.launchers import launched
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Class, Function

# A function or method with all that is written in it, or the code of a file outside every function.
Body: TypeAlias = Function | Script

# Calls that are followed from one start; what lies beyond is not reached.
SEARCHED = 600
# Methods that Python calls by itself, or that a call of the object runs.
_UNASKED = frozenset({"__init__", "__call__", "forward", "__enter__", "__exit__", "__iter__", "__next__"})


def body_of(at: Expression) -> Body:
    """Return the outermost function around an expression, its script when there is none."""
    function = at.scope.function
    return at.scope.script if function is None else function.outermost


class Reach:
    """Follows calls from body to body."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._calls: dict[int, list[Call]] = {}
        self._indexed: set[int] = set()

    def calls_in(self, body: Body) -> Sequence[Call]:
        """Return the calls that stand in a body, in source order."""
        script = body if isinstance(body, Script) else body.script
        if id(script) not in self._indexed:
            self._indexed.add(id(script))
            for call in script.calls:
                self._calls.setdefault(id(body_of(call)), []).append(call)
        return self._calls.get(id(body), ())

    def onward(self, start: Iterable[Call]) -> Iterator[Call]:
        """Yield the calls given and all that they can lead to, the near ones first."""
        return _Walk(self).calls(start)


class _Walk:
    """One walk: methods are reached by name when their class is known to be made on the way."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._resolver = reach.resolver
        self._bodies: set[int] = set()
        self._classes: dict[int, Class] = {}
        self._asked: set[str] = set(_UNASKED)

    def calls(self, start: Iterable[Call]) -> Iterator[Call]:
        pending = deque(start)
        for _ in range(SEARCHED):
            if not pending:
                return
            call = pending.popleft()
            yield call
            for function in self._runs(call):
                if id(function) not in self._bodies:
                    self._bodies.add(id(function))
                    pending.extend(self._reach.calls_in(function))

    def _runs(self, call: Call) -> Iterator[Function]:
        """Yield the outermost functions around whatever a call can run."""
        target = launched(self._resolver, call)
        handed = [argument.value for argument in call.arguments if isinstance(argument.value, Name | Attribute)]
        for given in (call.callee, *handed, *([] if target is None else [target])):
            yield from self._of_reference(given)
        function = self._resolver.function_of(call)
        if function is not None:
            yield function.outermost
        if isinstance(call.callee, Attribute) and (function is None or function.cls is not None):
            yield from self._of_method_name(call.callee.name)  # of a class that overrides it, too

    def _of_reference(self, reference: Expression) -> Iterator[Function]:
        for origin in self._resolver.origins(reference):
            if isinstance(origin, Function):
                yield origin.outermost
            elif isinstance(origin, Class):
                yield from self._of_class(origin)

    def _of_class(self, cls: Class) -> Iterator[Function]:
        if id(cls) in self._classes:
            return
        self._classes[id(cls)] = cls
        yield from (method for name, method in cls.methods.items() if name in self._asked)
        for base in cls.bases:
            for origin in self._resolver.origins(base):
                if isinstance(origin, Class):
                    yield from self._of_class(origin)

    def _of_method_name(self, name: str) -> Iterator[Function]:
        if name not in self._asked:
            self._asked.add(name)
            yield from (cls.methods[name] for cls in self._classes.values() if name in cls.methods)
