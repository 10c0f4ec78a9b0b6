"""Rules that the settings switch off for some files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.rulekit.select import covered

if TYPE_CHECKING:
    from ddplint.config import Settings
    from ddplint.rulekit.pack import RegisteredRule


class PerFileIgnores:
    """``per-file-ignores`` of the settings: patterns as in .gitignore, relative to the folder of the settings.

    Raises OptionError for a selector that covers no rule.
    """

    def __init__(self, settings: Settings, rules: Sequence[RegisteredRule]) -> None:
        self._root = settings.root.resolve()
        self._entries = []
        if settings.per_file_ignores:
            from pathspec import GitIgnoreSpec  # most projects have no such setting, and the import costs

            self._entries = [
                (GitIgnoreSpec.from_lines([pattern]), covered(selectors, rules, "per-file-ignores"))
                for pattern, selectors in settings.per_file_ignores
            ]

    def codes(self, path: Path) -> frozenset[str]:
        """Return the codes of the rules that are off for a file."""
        if not self._entries:
            return frozenset()
        absolute = path.resolve()
        if not absolute.is_relative_to(self._root):
            return frozenset()
        relative = absolute.relative_to(self._root).as_posix()
        return frozenset[str]().union(*(codes for spec, codes in self._entries if spec.match_file(relative)))
