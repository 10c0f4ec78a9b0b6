"""Rule packs, found by name and loaded whole: a pack that does not load is refused, never skipped."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ddplint.errors import PackError
from ddplint.rulekit.documentation import Documentation, parse_documentation
from ddplint.rulekit.rule import Found, Rule, SuppressionReport
from ddplint.source.distributions import entry_points_mention

if TYPE_CHECKING:
    from ddplint.edits import Editor
    from ddplint.findings import Finding, Fix, Verdict
    from ddplint.project import Project
    from ddplint.semantics import ParseFailure, Script
    from ddplint.source import SourceFile
    from ddplint.trace import Trace

OWN_PACK = "ddplint_rules"
ENTRY_POINT_GROUP = "ddplint.rules"
CHECKS = ("check", "check_unparsable", "check_suppressions")
_CODE = re.compile(r"[A-Z]{3}\d{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class RegisteredRule:
    """A rule as the tool knows it: its registration and the functions of its module."""

    rule: Rule
    module: ModuleType

    @property
    def check(self) -> Callable[[Script, Project], Iterable[Found]] | None:
        return getattr(self.module, "check", None)

    @property
    def check_unparsable(self) -> Callable[[SourceFile, ParseFailure], Iterable[Found]] | None:
        return getattr(self.module, "check_unparsable", None)

    @property
    def check_suppressions(self) -> Callable[[SuppressionReport], Iterable[Found]] | None:
        return getattr(self.module, "check_suppressions", None)

    @property
    def fix(self) -> Callable[[Found, Editor], Fix | None] | None:
        return getattr(self.module, "fix", None)

    @property
    def verdict(self) -> Callable[[Finding, Trace], Verdict] | None:
        return getattr(self.module, "verdict", None)

    @cached_property
    def documentation(self) -> Documentation:
        return parse_documentation(self.module.__doc__, self.module.__name__)


def load_rules(plugins: Iterable[str] = ()) -> tuple[RegisteredRule, ...]:
    """Load ddplint's own rules, the packs that installed distributions announce, and those named in ``plugins``.

    Raises PackError for a pack that cannot be imported, a module that is not a whole rule, or a code or a name
    that two rules claim.
    """
    rules: list[RegisteredRule] = []
    for pack in dict.fromkeys([OWN_PACK, *_announced(), *plugins]):
        rules.extend(_load_pack(pack))
    seen: dict[str, RegisteredRule] = {}
    for registered in rules:
        for key in (registered.rule.code, registered.rule.name):
            if key in seen:
                raise PackError(f"{registered.module.__name__} and {seen[key].module.__name__} both claim {key}")
            seen[key] = registered
    return tuple(sorted(rules, key=lambda registered: registered.rule.code))


def _announced() -> Iterator[str]:
    if not entry_points_mention(ENTRY_POINT_GROUP):
        return
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        yield entry_point.value


def _load_pack(name: str) -> Iterator[RegisteredRule]:
    package = _import(name)
    if not hasattr(package, "__path__"):
        raise PackError(f"rule pack {name!r} is a module, not a package of rules")
    for found in pkgutil.walk_packages(package.__path__, f"{name}.", onerror=_refuse):
        if not found.ispkg:
            yield _registered(_import(found.name))


def _refuse(name: str) -> None:
    raise PackError(f"rule pack module {name!r} cannot be imported")


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever a pack raises on import, the answer is the same
        raise PackError(f"rule pack module {name!r} cannot be imported: {type(error).__name__}: {error}") from error


def _registered(module: ModuleType) -> RegisteredRule:
    rule: Any = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise PackError(f"{module.__name__} has no RULE")
    if not _CODE.fullmatch(rule.code) or not _NAME.fullmatch(rule.name):
        raise PackError(f"{module.__name__}: code {rule.code!r} or name {rule.name!r} is not well formed")
    if sum(hasattr(module, check) for check in CHECKS) != 1:
        raise PackError(f"{module.__name__} must have exactly one of {', '.join(CHECKS)}")
    if hasattr(module, "fix") != (rule.applicability is not None):
        raise PackError(f"{module.__name__}: a fix and its applicability come together")
    return RegisteredRule(rule, module)
