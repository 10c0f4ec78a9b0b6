"""The rules that are installed, and those that the settings add."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ddplint.config import load_settings
from ddplint.errors import OptionError, nearest
from ddplint.rulekit.pack import RegisteredRule, load_rules


def installed_rules() -> tuple[RegisteredRule, ...]:
    """Load all rules there are for this folder; raises UsageError when settings or packs are broken."""
    return load_rules(load_settings(Path.cwd()).plugins)


def find_rule(word: str, rules: Sequence[RegisteredRule]) -> RegisteredRule:
    """Return the rule of a code or a name; raises OptionError with the nearest when there is none."""
    for registered in rules:
        if word.upper() == registered.rule.code or word.lower() == registered.rule.name:
            return registered
    known = [name for registered in rules for name in (registered.rule.code, registered.rule.name)]
    raise OptionError(f"no rule {word!r}{nearest(word, known)}")
