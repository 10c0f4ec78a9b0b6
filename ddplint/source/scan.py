"""Where strings and comments are in Python text, found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A string that never ends is a string to the end of its line, or of the text when it is a triple-quoted one. What
# stands in the braces of an f-string counts as string: quotes in there come in pairs.
_STRING_OR_COMMENT = re.compile(
    r"""
      \"{3} [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* (?: \"{3} )?
    | '{3} [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )* (?: '{3} )?
    | " [^"\\\n]* (?: \\ (?: \r\n | . ) [^"\\\n]* )* "?
    | ' [^'\\\n]* (?: \\ (?: \r\n | . ) [^'\\\n]* )* '?
    | \# [^\r\n]*
    """,
    re.VERBOSE | re.DOTALL,
)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets at which each comment starts and ends, its newline not included."""
    for match in _STRING_OR_COMMENT.finditer(text):
        if match[0].startswith("#"):
            yield match.span()


def code_only(text: str) -> str:
    """Return the text with its comments cut out and an empty string in the place of every string."""
    return _STRING_OR_COMMENT.sub(lambda match: "" if match[0].startswith("#") else '""', text)
