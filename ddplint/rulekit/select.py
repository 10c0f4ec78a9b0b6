"""Which rules run: selectors are ALL, a code, the beginning of a code, a name or an impact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ddplint.errors import OptionError, nearest
from ddplint.findings import Impact
from ddplint.rulekit.pack import RegisteredRule
from ddplint.rulekit.rule import Rule

EVERYTHING = "ALL"
_CODE_PREFIX = re.compile(r"[A-Z]{3}\d{0,3}")


def matches(selector: str, rule: Rule) -> bool:
    """Whether a selector covers a rule."""
    if selector.upper() == EVERYTHING or selector.lower() in (rule.name, rule.impact.value):
        return True
    prefix = selector.upper()
    return bool(_CODE_PREFIX.fullmatch(prefix)) and rule.code.startswith(prefix)


def known_selectors(rules: Iterable[RegisteredRule]) -> tuple[str, ...]:
    """Return every full selector: codes, names and impacts."""
    words = [EVERYTHING, *(impact.value for impact in Impact)]
    for registered in rules:
        words += [registered.rule.code, registered.rule.name]
    return tuple(words)


def covered(selectors: Iterable[str], rules: Sequence[RegisteredRule], where: str) -> frozenset[str]:
    """Return the codes of the rules that any of the selectors covers.

    Raises OptionError for a selector that covers nothing; ``where`` names the option or the setting.
    """
    codes: set[str] = set()
    for selector in selectors:
        hit = {registered.rule.code for registered in rules if matches(selector, registered.rule)}
        if not hit and selector.lower() not in {impact.value for impact in Impact}:
            raise OptionError(f"{where}: no rule {selector!r}{nearest(selector, known_selectors(rules))}")
        codes |= hit
    return frozenset(codes)


def select_rules(
    rules: Sequence[RegisteredRule], select: Iterable[str], extend_select: Iterable[str], ignore: Iterable[str]
) -> tuple[RegisteredRule, ...]:
    """Return the rules that run: ``select`` (all when empty) and ``extend_select``, without ``ignore``.

    Raises OptionError for a selector that covers nothing.
    """
    chosen = covered(tuple(select) or (EVERYTHING,), rules, "select")
    chosen |= covered(extend_select, rules, "extend-select")
    chosen -= covered(ignore, rules, "ignore")
    return tuple(registered for registered in rules if registered.rule.code in chosen)
