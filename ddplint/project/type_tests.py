"""Whether a program tells the objects of a class from those of its base class."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_TESTS = (
    rb"\b(?:isinstance|issubclass|assert(?:Not)?IsInstance)\s*\([^()]*(?:\([^()]*)?\b%s\b"
    rb"|\btype\s*\([^()\n]*\)\s*(?:is|==|!=|in|not)\b[^\n]*\b%s\b"
    rb"|^\s*\w+\[[\w.]*\b%s\]\s*="  # a table by type
    rb"|\bamp\.(?:\w+\.)?%s[\"']"  # a name in a string, such as what a test replaces
)


def tells_apart(contents: Iterable[bytes], name: str) -> bool:
    """Whether code may behave differently when an object is of the base of the class of this name."""
    return any(name.encode() in content and _pattern(name).search(content) for content in contents)


@cache
def _pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(_TESTS.replace(b"%s", re.escape(name).encode()), re.MULTILINE)
