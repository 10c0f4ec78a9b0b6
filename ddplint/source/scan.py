"""Where strings and comments are in Python text, found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

# For verbose patterns with DOTALL. A string that never ends is a string to the end of its line, or of the text when it
# is a triple-quoted one. What stands in the braces of an f-string counts as string: quotes in there come in pairs.
# (Every alternative starts with a literal character, which lets the search leap to the next of them.)
STRING = r"""
      "" " [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* (?: \"{3} )?
    | '' ' [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )* (?: '{3} )?
    | " [^"\\\n]* (?: \\ (?: \r\n | . ) [^"\\\n]* )* "?
    | ' [^'\\\n]* (?: \\ (?: \r\n | . ) [^'\\\n]* )* '?
"""
COMMENT = r"\# [^\r\n]*"

# What stands for every character of a string where the words of code are searched.
STRING_CHARACTER = "\x01"
_STRING_OR_COMMENT = re.compile(f"{STRING} | {COMMENT}", re.VERBOSE | re.DOTALL)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets at which each comment starts and ends, its newline not included."""
    for match in _STRING_OR_COMMENT.finditer(text):
        if match[0].startswith("#"):
            yield match.span()


def without_strings(text: str) -> str:
    """Return a text of the same length in which strings are runs of STRING_CHARACTER and comments are blank."""
    return _STRING_OR_COMMENT.sub(
        lambda match: (" " if match[0].startswith("#") else STRING_CHARACTER) * len(match[0]), text
    )
