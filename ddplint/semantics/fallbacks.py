"""Code that runs only on some versions of a library: version tests, feature tests, and what a failed attempt leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ddplint.semantics.expressions import Attribute, Call, Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import ExitKind, Region, RegionKind, Statement

_VERSION = re.compile(
    r"__version__|torch\w*version|(?:parse|loose|digit|strict|check|compare|min|required)_?version|version_?at_least"
    r"|torch_?(?:has|ge|gt|le|lt|greater|less|at_least|\d)",
    re.IGNORECASE,
)
_FEATURE_TESTS = frozenset({"hasattr", "getattr", "dir"})
_LIBRARY = re.compile(r"torch|amp|cuda|^dist$|distributed|c10d")
# What an attempt to use a missing module or attribute raises.
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError"})


def is_fallback(at: Expression | Statement) -> bool:
    """Whether an expression or a statement is one of the ways that a script keeps for different versions of a library.

    It stands under a test of a version or of a feature, in an ``except`` block, or in a ``try`` block that is left
    when something is missing or that sets a name which its ``except`` block sets, too.
    """
    return any(_is_switched(region) for region in at.region.chain())


def _is_switched(region: Region) -> bool:
    if region.kind is RegionKind.BRANCH:
        if region.test is None or not _asks_version(region.test, follow=True):
            return False
        return not region.implied or _returns_otherwise(region)
    if region.kind is RegionKind.TRY:
        return _has_alternative(region)
    return region.kind is RegionKind.HANDLER


def _returns_otherwise(region: Region) -> bool:
    """Whether what leaves before the rest of a block is another way to do it, and no refusal."""
    arms = () if region.fork is None else region.fork.arms
    others = [arm for arm in arms if arm.arm != region.arm]
    returns = [leave.region for leave in region.scope.script.exits if leave.kind is ExitKind.RETURN]
    return any(leave.within(other) for leave in returns for other in others)


def _asks_version(test: Expression, *, follow: bool) -> bool:
    for part in test.walk():
        if isinstance(part, (Name, Attribute)) and _VERSION.search(_identifier(part)):
            return True
        if isinstance(part, Attribute) and _identifier(part.base) == "version":
            return True
        if isinstance(part, Call) and _tests_feature(part):
            return True
        if follow and isinstance(part, Name) and any(_asks_version(value, follow=False) for value in _values(part)):
            return True
    return False


def _tests_feature(call: Call) -> bool:
    if _identifier(call.callee) not in _FEATURE_TESTS or not call.arguments:
        return False
    return any(_LIBRARY.search(_identifier(part)) for part in call.arguments[0].value.walk())


def _values(name: Name) -> Iterator[Expression]:
    return (binding.value for binding in reaching(name.id, name) or () if binding.value is not None)


def _has_alternative(region: Region) -> bool:
    handlers: Any = getattr(region.node, "handlers", ())
    if any(_MISSING & _names_in(handler.type) for handler in handlers):
        return True
    bindings = [binding for bindings in region.scope.bindings.values() for binding in bindings]
    tried = {binding.name for binding in bindings if binding.region is region}
    nodes = {id(handler) for handler in handlers}
    return any(binding.name in tried and id(binding.region.node) in nodes for binding in bindings)


def _names_in(node: Any) -> set[str]:
    """Return the identifiers below a syntax node: the classes that an ``except`` names."""
    if node is None:
        return set()
    found = {value} if isinstance(value := getattr(node, "value", None), str) else set()
    return found.union(*(_names_in(child) for child in node.children))


def _identifier(expression: Expression) -> str:
    if isinstance(expression, Name):
        return expression.id
    return expression.name if isinstance(expression, Attribute) else ""
