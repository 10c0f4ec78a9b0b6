"""The rules of one pack."""

from __future__ import annotations

from ddplint.rulekit.pack import OWN_PACK, RegisteredRule, load_rules


def rules_of(pack: str = OWN_PACK) -> tuple[RegisteredRule, ...]:
    """Return the rules of a pack, by code; raises PackError for a pack that does not load."""
    return tuple(rule for rule in load_rules((pack,)) if rule.module.__name__.startswith(f"{pack}."))
