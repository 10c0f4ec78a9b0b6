"""Names under which a value can be read at another place of the same function."""

from __future__ import annotations

from dataclasses import dataclass

from ddplint.semantics.expressions import Conditional, Constant, Expression
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, Region, ScopeKind


@dataclass(frozen=True, slots=True)
class InReach:
    """A name that has a value where it is read; ``or_none``: or is None there."""

    name: str
    or_none: bool


def in_reach(value: Expression, at: Expression) -> InReach | None:
    """Return a name that at a place is surely bound, to a value or to None; None when there is no such name.

    Only names of the function that both stand in are looked at, or of the file where neither stands in a function.
    """
    scope = value.scope
    if at.scope is not scope or scope.kind not in (ScopeKind.FUNCTION, ScopeKind.MODULE):
        return None
    for name, bindings in scope.bindings.items():
        if not any(value in _ends(binding) for binding in bindings):
            continue
        found = reaching(name, at) or []
        others = [end for binding in found for end in _ends(binding) if end is not value]
        if any(not _is_none(end) for end in others) or len(others) == sum(len(_ends(binding)) for binding in found):
            continue
        if _is_surely_bound([binding for binding in found if binding.order < at.order], at.region):
            return InReach(name, bool(others))
    return None


def _ends(binding: Binding) -> list[Expression | None]:
    """Return what a binding can give its name: the value, or both ends of a conditional one."""
    if binding.path or not isinstance(binding.value, Conditional):
        return [None if binding.path else binding.value]
    return [binding.value.then, binding.value.otherwise]


def _is_none(end: Expression | None) -> bool:
    return isinstance(end, Constant) and end.value is None


def _is_surely_bound(bindings: list[Binding], at: Region) -> bool:
    """Whether one binding always happens before a place, or all arms of a fork before it hold one."""
    arms: dict[int, set[int]] = {}
    for binding in bindings:
        region = binding.region
        if at.within(region):
            return True
        if (
            region.fork is not None
            and region.fork.exhaustive
            and region.parent is not None
            and at.within(region.parent)
        ):
            taken = arms.setdefault(id(region.fork), set())
            taken.add(region.arm)
            if taken == {arm.arm for arm in region.fork.arms}:
                return True
    return False
