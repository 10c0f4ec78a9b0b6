"""Characters of linted files made harmless before they reach a terminal or an annotation.

A file, its path, or a message that quotes it may hold escape sequences that recolour the screen, move the cursor or
turn text around, so that a reader sees something else than what is there. Every character that Python's own
``repr`` would not show as it is, is written the way ``repr`` writes it.
"""

from __future__ import annotations


def visible(text: str) -> str:
    """Return ``text`` as one printable line: ``ESC`` becomes ``\\x1b``, a newline becomes ``\\n``."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def visible_text(text: str) -> str:
    """Return ``text`` with its newlines and nothing else that is not printable."""
    return "\n".join(map(visible, text.split("\n")))
