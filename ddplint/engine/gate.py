"""The gate: which rules have anything to say about a file, told from its bytes alone.

A rule names the words without which it cannot fire. A file without any of these words is never parsed, and a run
that parses nothing never imports the parser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.engine.per_file import PerFileIgnores

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule


@dataclass(frozen=True, slots=True)
class Assignment:
    """A file, what it holds, and the codes of the rules that are asked about it.

    ``selected`` rules apply to the file; the ``awake`` among them find their words in it. Those asleep cannot fire.
    """

    path: Path
    shown: str
    data: bytes
    selected: frozenset[str]
    awake: frozenset[str]


class Gate:
    """Assigns rules to files.

    ``is_distributed`` tells whether the program of a file, which holds the given bytes, trains with several processes.
    """

    def __init__(
        self, rules: Sequence[RegisteredRule], ignores: PerFileIgnores, is_distributed: Callable[[Path, bytes], bool]
    ) -> None:
        self._rules = [rule for rule in rules if rule.check_unparsable is None]
        self._codes = frozenset(rule.rule.code for rule in rules)
        self._ignores = ignores
        self._is_distributed = is_distributed
        self._words = {word: word.encode() for rule in self._rules for word in rule.rule.triggers}

    def assign(self, path: Path, shown: str, data: bytes) -> Assignment:
        """Choose the rules for a file that holds ``data``."""
        selected = self._codes - self._ignores.codes(path)
        present = {word for word, encoded in self._words.items() if encoded in data}
        woken = [
            rule.rule
            for rule in self._rules
            if rule.rule.code in selected and (not rule.rule.triggers or not present.isdisjoint(rule.rule.triggers))
        ]
        # The word search over the project is the dearer question: it is asked last, and only where it matters.
        everyday = any(rule.everyday for rule in woken) and self._is_distributed(path, data)
        awake = frozenset(rule.code for rule in woken if everyday or not rule.everyday)
        return Assignment(path, shown, data, selected, awake)
