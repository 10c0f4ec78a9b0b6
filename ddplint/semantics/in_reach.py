"""Names under which a value can be read at another place of the same function."""

from __future__ import annotations

from dataclasses import dataclass

from ddplint.semantics.expressions import Conditional, Constant, Expression
from ddplint.semantics.reaching import reaching, surely_bound
from ddplint.semantics.structure import Binding, ScopeKind


@dataclass(frozen=True, slots=True)
class InReach:
    """A name that can have a value where it is read, and is bound there in any case.

    ``or_none``: it can be None as well; ``or_other``: it can be something else as well.
    """

    name: str
    or_none: bool = False
    or_other: bool = False


def in_reach(value: Expression, at: Expression) -> InReach | None:
    """Return a name that at a place is surely bound, and can be to a value there; None when there is no such name.

    Only names of the function that both stand in are looked at, or of the file where neither stands in a function.
    """
    scope = value.scope
    if at.scope is not scope or scope.kind not in (ScopeKind.FUNCTION, ScopeKind.MODULE):
        return None
    for name, bindings in scope.bindings.items():
        if not any(value in _ends(binding) for binding in bindings):
            continue
        found = reaching(name, at) or []
        ends = [end for binding in found for end in _ends(binding)]
        if value not in ends or not surely_bound(found, at):
            continue
        others = [end for end in ends if end is not value]
        return InReach(name, any(map(_is_none, others)), not all(map(_is_none, others)))
    return None


def _ends(binding: Binding) -> list[Expression | None]:
    """Return what a binding can give its name: the value, or both ends of a conditional one."""
    if binding.path or not isinstance(binding.value, Conditional):
        return [None if binding.path else binding.value]
    return [binding.value.then, binding.value.otherwise]


def _is_none(end: Expression | None) -> bool:
    return isinstance(end, Constant) and end.value is None
