"""What a value is made of: back from an expression through names, attributes, calls and the tests that chose it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ddplint.project.frames import Frame, Frames
from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Binding, BindingKind, Function, Region, RegionKind, Store

# One expression that a value depends on, and how the function around it is run (see Frame).
Piece: TypeAlias = tuple[Expression, Frame | None]
# Methods with which objects keep what they are given.
_KEEPS = frozenset({"append", "extend", "insert", "add", "add_batch", "update", "put", "push", "record", "accumulate"})
# Pieces that are looked at for one value.
SEARCHED = 600


class Dependence:
    """Goes back from values to everything that has a part in them."""

    def __init__(self, resolver: Resolver, frames: Frames) -> None:
        self._resolver = resolver
        self._frames = frames
        self._changes: dict[int, dict[str, list[Expression]]] = {}

    def pieces(
        self,
        value: Expression,
        frame: Frame | None = None,
        stop: Callable[[Expression, Frame | None], bool] = lambda *_: False,
        tests: bool = False,
    ) -> Iterator[Piece]:
        """Yield the expressions that a value depends on, itself first; what lies behind a ``stop`` is left out.

        Objects depend on what their methods are given (``total.update(loss)``), and on what they are given themselves
        where that is all that a statement does (``early_stopping(loss)``). ``tests``: a value depends on the
        tests, too, that decide which assignment it comes from and which ``return`` gives it.
        """
        walk = _Walk(self._resolver, self._frames, self._changes_in, tests)
        seen: set[tuple[int, Frame | None]] = set()
        pending: list[Piece] = [(value, frame)]
        while pending and len(seen) < SEARCHED:
            piece = pending.pop()
            if (id(piece[0]), piece[1]) in seen:
                continue
            seen.add((id(piece[0]), piece[1]))
            yield piece
            if not stop(*piece):
                pending.extend(walk.below(*piece))

    def _changes_in(self, script: Script) -> dict[str, list[Expression]]:
        """Return what is put into objects by their methods and items, by the name of the object."""
        if id(script) not in self._changes:
            changes = self._changes[id(script)] = {}
            for call in script.calls:
                callee = call.callee
                keeper = callee.base if isinstance(callee, Attribute) and callee.name in _KEEPS else callee
                if isinstance(keeper, Name) and (keeper is not callee or _is_statement(call)):
                    changes.setdefault(keeper.id, []).extend(given.value for given in call.arguments)
            for store in script.stores:
                if store.index is not None and store.value is not None and isinstance(store.base, Name):
                    changes.setdefault(store.base.id, []).append(store.value)
        return self._changes[id(script)]


class _Walk:
    """One step back from an expression."""

    def __init__(
        self,
        resolver: Resolver,
        frames: Frames,
        changes: Callable[[Script], dict[str, list[Expression]]],
        tests: bool,
    ) -> None:
        self._resolver = resolver
        self._frames = frames
        self._changes = changes
        self._tests = tests

    def below(self, piece: Expression, frame: Frame | None) -> Iterator[Piece]:
        """Yield what an expression is directly made of."""
        if isinstance(piece, Name):
            for binding in reaching(piece.id, piece) or ():
                yield from self._of_binding(piece, binding, frame)
            yield from ((change, frame) for change in self._changes_of(piece))
        elif isinstance(piece, Attribute):
            if not isinstance(piece.base, Name) or self._is_self(piece.base):
                for store in self._resolver.stores_of(piece):
                    yield from self._of_store(piece, store, frame)
            yield piece.base, frame
        elif isinstance(piece, Call):
            yield from self._of_call(piece, frame)
        else:
            yield from ((child, frame) for child in piece.children)

    def _is_self(self, name: Name) -> bool:
        """Whether a name is the instance that a method gets: what others are given is none of its business."""
        return any(
            binding.parameter is not None and binding.parameter.index == 0 for binding in reaching(name.id, name) or ()
        )

    def _of_binding(self, name: Name, binding: Binding, frame: Frame | None) -> Iterator[Piece]:
        inside = frame if binding.region.scope.function is name.scope.function else None
        if binding.kind is BindingKind.PARAMETER and binding.parameter is not None:
            given = self._frames.given(binding.parameter, inside)
            if given is not None:
                yield given
            elif inside is None:
                yield from self._from_callers(binding.parameter.function, binding.parameter.name)
        elif binding.kind is BindingKind.IMPORT:
            yield from ((origin, None) for origin in self._resolver.origins(name) if isinstance(origin, Expression))
        elif binding.value is not None and not self._counts(binding):
            yield binding.value, inside
            yield from self._tests_around(binding.region, name.region, inside)

    def _counts(self, binding: Binding) -> bool:
        """Whether a name is the count of ``enumerate``, which says nothing of what is counted."""
        value = binding.value
        if binding.kind is not BindingKind.LOOP or binding.path[:1] != (0,) or not isinstance(value, Call):
            return False
        return "builtins.enumerate" in self._resolver.names(value.callee)

    def _from_callers(self, function: Function, parameter: str) -> Iterator[Piece]:
        calls, _ = self._resolver.linker.callers(function)
        for call in calls:
            given = self._resolver.bound(call, function).get(parameter)
            if given is not None:
                yield given, None

    def _changes_of(self, name: Name) -> Iterator[Expression]:
        if self._resolver.origins(name) and all(
            isinstance(origin, Function) for origin in self._resolver.origins(name)
        ):
            return iter(())
        changes = self._changes(name.scope.script).get(name.id, ())
        return (change for change in changes if change.scope.function is name.scope.function)

    def _of_store(self, read: Attribute, store: Store, frame: Frame | None) -> Iterator[Piece]:
        inside = frame if store.region.scope.function is read.scope.function else None
        if store.value is not None:
            yield store.value, inside
            yield from self._tests_around(store.region, read.region, inside)

    def _of_call(self, call: Call, frame: Frame | None) -> Iterator[Piece]:
        inside = self._frames.enter(call, frame)
        if inside is not None and inside.function.name != "__init__" and _hands_out(inside.function):
            for value in (*inside.function.returns, *inside.function.yields):
                yield value, inside
                yield from self._tests_around(value.region, inside.function.region, inside)
            return
        if isinstance(call.callee, Attribute):
            yield call.callee.base, frame
        yield from ((given.value, frame) for given in call.arguments)

    def _tests_around(self, region: Region, outside: Region, frame: Frame | None) -> Iterator[Piece]:
        """Yield the tests that decide whether a region runs, but for those that hold at another place, too."""
        shared = set(map(id, outside.around()))
        for outer in region.chain() if self._tests else ():
            if outer.kind is RegionKind.BRANCH and outer.test is not None and id(outer) not in shared:
                yield outer.test, frame


def _is_statement(call: Call) -> bool:
    """Whether a call is made for what it does to the object that is called, since nobody takes what it returns."""
    lines = getattr(call.statement.node, "body", ())
    return isinstance(lines, tuple | list) and any(
        type(line).__name__ == "Expr" and getattr(line, "value", None) is call.node for line in lines
    )


def _hands_out(function: Function) -> bool:
    return bool(function.returns or function.yields)
