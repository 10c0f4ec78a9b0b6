"""Whether a project tells the objects of a class from those of its base class."""

from __future__ import annotations

import re

from ddplint.project.files import ProjectFiles

_TESTS = (
    rb"\b(?:isinstance|issubclass|assert(?:Not)?IsInstance)\s*\([^()]*(?:\([^()]*)?\b%s\b"
    rb"|\btype\s*\([^()\n]*\)\s*(?:is|==|!=|in|not)\b[^\n]*\b%s\b"
    rb"|^\s*\w+\[[\w.]*\b%s\]\s*="  # a table by type
    rb"|\bamp\.(?:\w+\.)?%s[\"']"  # a name in a string, such as what a test replaces
)


class TypeTests:
    """Searches the files of a project, once for each class."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._known: dict[str, bool] = {}

    def tell_apart(self, name: str) -> bool:
        """Whether some code may behave differently when an object is of the base of the class of this name."""
        if name not in self._known:
            pattern = re.compile(_TESTS.replace(b"%s", re.escape(name).encode()), re.MULTILINE)
            contents = (self._files.content(path) for path in self._files.holding(name))
            self._known[name] = any(pattern.search(content) for content in contents)
        return self._known[name]
