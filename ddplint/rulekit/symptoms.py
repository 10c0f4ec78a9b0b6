"""From what a user sees or pastes to the rules that speak of it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ddplint.rulekit.pack import RegisteredRule

SECTION = "Symptoms"
_WORD = re.compile(r"[a-z_]+")
# Words that stand in any sentence.
_PLAIN = frozenset(
    _WORD.findall(
        "a an and are as at be but by for from has have if in into is it its my no not of on one only or our the their "
        "then there they this to was were when which will with you your error runtimeerror valueerror line file"
    )
)
# Of the weight of the words in one of both texts, so much has to be in the other.
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Match:
    """A rule, the symptom of it that is meant, and how well it fits: from 0 to 1."""

    rule: RegisteredRule
    symptom: str
    likeness: float


def symptoms_of(rule: RegisteredRule) -> tuple[str, ...]:
    """Return the symptoms that a rule's documentation lists, each on one line."""
    text = rule.documentation.sections.get(SECTION, "")
    items = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
    return tuple(" ".join(item.split()) for item in items)


def matching(rules: Sequence[RegisteredRule], text: str) -> list[Match]:
    """Return the rules that a symptom leads to, the likeliest first.

    Upper and lower case, numbers, paths and punctuation do not count; rare words count more than frequent ones. A long
    text, such as a whole traceback, need only hold a symptom; a short one need only be held by it.
    """
    listed = [(rule, symptom) for rule in rules for symptom in symptoms_of(rule)]
    frequency = Counter(word for _, symptom in listed for word in _words(symptom))
    asked = _words(text)
    matches = []
    for rule in rules:
        found = [_match(rule, symptom, asked, frequency, len(listed)) for symptom in symptoms_of(rule)]
        best = max(found, key=lambda match: match.likeness, default=None)
        if best is not None and best.likeness >= _ALIKE:
            matches.append(best)
    return sorted(matches, key=lambda match: (-match.likeness, match.rule.rule.code))


def _match(rule: RegisteredRule, symptom: str, asked: frozenset[str], frequency: Counter[str], whole: int) -> Match:
    known = _words(symptom)
    both = _weight(known & asked, frequency, whole)
    likeness = max(
        both / max(_weight(known, frequency, whole), 1e-9), both / max(_weight(asked, frequency, whole), 1e-9)
    )
    return Match(rule, symptom, likeness if len(known & asked) > 1 or asked <= known else 0.0)


def _weight(words: frozenset[str], frequency: Counter[str], whole: int) -> float:
    return sum(math.log((whole + 1) / (frequency[word] + 0.5)) for word in words)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text that say something; paths are left out, endings of the plural too."""
    found = _WORD.findall(re.sub(r"\S*/\S*", " ", text).lower())
    return frozenset(word.rstrip("s") or word for word in found if word not in _PLAIN and len(word) > 1)
