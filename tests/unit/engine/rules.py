"""Rules made on the spot."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from ddplint.findings import Applicability, Impact
from ddplint.rulekit import Rule
from ddplint.rulekit.pack import RegisteredRule


def a_rule(
    code: str,
    *triggers: str,
    impact: Impact = Impact.SLOW,
    everyday: bool = False,
    discharged_by: Iterable[str] = (),
    **functions: Any,
) -> RegisteredRule:
    """Return a rule with these functions; without a check of any kind it finds nothing in code."""
    module = ModuleType(f"rule_{code.lower()}")
    if not any(name.startswith("check") for name in functions):
        functions["check"] = lambda _script, _project: ()
    for name, function in functions.items():
        setattr(module, name, function)
    applicability = Applicability.SAFE if "fix" in functions else None
    rule = Rule(code, f"rule-{code[3:]}", impact, "0.1.0", triggers, everyday, frozenset(discharged_by), applicability)
    return RegisteredRule(rule, module)
