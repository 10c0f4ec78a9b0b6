"""Which bindings can a name have where it is read."""

from __future__ import annotations

from collections.abc import Sequence

from ddplint.semantics.expressions import Expression
from ddplint.semantics.structure import Binding, BindingKind, Fork, Region, RegionKind, Scope, ScopeKind


def reaching(name: str, at: Expression) -> list[Binding] | None:
    """Return the bindings that a name read at an expression can have, or None when no scope binds it.

    Inside one function an assignment hides the earlier ones that it always follows. A function sees the names of its
    file as they are when the file has been run, and those of functions around it with any binding they ever get.
    """
    known, key = at.region.scope.reached, (id(at), name)
    if key not in known:
        known[key] = _reaching(name, at)
    return known[key]


def _reaching(name: str, at: Expression) -> list[Binding] | None:
    scope = scope_of(name, at.region.scope)
    if scope is None:
        return None
    bindings = scope.bindings[name]
    if _same_frame(scope, at.region.scope):
        return _flow(bindings, at.region, at.order)
    if scope.kind is ScopeKind.MODULE:
        return _at_the_end(bindings)
    return [binding for binding in bindings if binding.kind is not BindingKind.DELETE]


def surely_bound(bindings: Sequence[Binding], at: Expression) -> bool:
    """Whether some of the bindings that reach an expression always happen before it, on whichever way it is reached."""
    covered: set[int] = set()
    around = [id(outer) for outer in at.region.around()]
    return any(_cover(binding.region, covered, around) for binding in bindings if binding.order < at.order)


def scope_of(name: str, start: Scope) -> Scope | None:
    """Return the scope whose binding a name read in ``start`` has, or None for builtins and star imports."""
    scope: Scope | None = start.outer_names.get(name, start)
    while scope is not None:
        if name in scope.bindings and (scope.kind is not ScopeKind.CLASS or scope is start):
            return scope
        scope = scope.parent
    return None


def _same_frame(outer: Scope, inner: Scope) -> bool:
    """Whether code of the inner scope runs at its place in the outer one: itself, or a comprehension in it."""
    scope: Scope | None = inner
    while scope is not None and scope is not outer and scope.kind is ScopeKind.COMPREHENSION:
        scope = scope.parent
    return scope is outer


def _flow(bindings: Sequence[Binding], region: Region, order: int) -> list[Binding]:
    found: list[Binding] = []
    covered: set[int] = set()
    around = [id(outer) for outer in region.around()]
    for binding in reversed(bindings):
        if binding.order >= order:
            continue
        if binding.region.excludes(region) and not _share_loop(binding.region, region):
            continue
        found.append(binding)
        if _cover(binding.region, covered, around):
            break
    found += _around_the_loop(bindings, region, order)
    found.reverse()
    return [binding for binding in found if binding.kind is not BindingKind.DELETE]


def _at_the_end(bindings: Sequence[Binding]) -> list[Binding]:
    """Return the bindings that hold when a file has been run; those that functions make hold, too."""
    region = bindings[0].region
    while region.parent is not None:
        region = region.parent
    last = max(binding.order for binding in bindings) + 1
    return _flow(bindings, region, last)


def _cover(region: Region, covered: set[int], around: Sequence[int]) -> bool:
    """Note that a binding always happens in ``region``; return whether it then always happens before the read."""
    current: Region | None = region
    while current is not None:
        if id(current) in around:
            return True
        covered.add(id(current))
        settled = current.fork is not None and _all_arms_covered(current.fork, covered)
        if not settled and current.kind is not RegionKind.WITH:
            return False
        current = current.parent
    return False


def _all_arms_covered(fork: Fork, covered: set[int]) -> bool:
    """Whether each arm that goes on binds the name; an arm that leaves needs no binding."""
    arms = {arm.arm for arm in fork.arms}
    settled = {arm.arm for arm in fork.arms if arm.leaves or id(arm) in covered}
    return fork.exhaustive and arms == settled


def _share_loop(one: Region, other: Region) -> bool:
    loops = set(map(id, one.loops))
    return any(id(loop) in loops for loop in other.loops)


def _around_the_loop(bindings: Sequence[Binding], region: Region, order: int) -> list[Binding]:
    """Return the later bindings in a loop around the read.

    They hold in the next pass, unless a binding between the loop's head and the read hides them.
    """
    later = []
    for binding in bindings:
        if binding.order < order or not _share_loop(binding.region, region):
            continue
        inner = next(outer for outer in region.chain() if outer.loop is not None)
        hidden = any(
            other.order < order and region.within(other.region) and other.region.within(inner) for other in bindings
        )
        if not hidden:
            later.append(binding)
    return later
