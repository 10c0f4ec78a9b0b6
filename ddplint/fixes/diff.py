"""A change as a patch that ``git apply`` and ``patch`` take."""

from __future__ import annotations

import difflib
import os
import re

from ddplint.source import SourceFile

_NO_FINAL_NEWLINE = "\n\\ No newline at end of file\n"
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def diff(source: SourceFile, new_text: str) -> bytes:
    """Return the patch from a file to its new text, empty when they are equal.

    The lines are the bytes of the file. The patch has no ``diff --git`` line, because with one ``git apply`` would
    take the path as relative to the repository instead of to the folder that it is run in.
    Raises SourceError when the encoding of the file cannot say the new text.
    """
    old, new = _lines(source.encode(source.text)), _lines(source.encode(new_text))
    hunks = list(difflib.unified_diff(old, new, n=3))[2:]
    if not hunks:
        return b""
    header = [f"--- {_name('a', source.path)}\n", f"+++ {_name('b', source.path)}\n"]
    body = (line if line.endswith("\n") else line + _NO_FINAL_NEWLINE for line in hunks)
    return "".join([*header, *body]).encode("latin-1")


def _lines(data: bytes) -> list[str]:
    """The lines of a file, a character for each byte; nothing but a newline ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("latin-1"))


def _name(side: str, path: str) -> str:
    """A path in a header, a character for each byte, quoted as git quotes it."""
    name = f"{side}/{path.lstrip('/')}"
    data = os.fsencode(name)
    if any(byte < 32 or byte > 126 or byte in b'"\\' for byte in data):
        return '"' + "".join(_ESCAPES.get(byte) or _plain_or_octal(byte) for byte in data) + '"'
    # A tab ends the name for a reader that would otherwise stop at the first space.
    return f"{name}\t" if " " in name else name


def _plain_or_octal(byte: int) -> str:
    return chr(byte) if 32 <= byte <= 126 else f"\\{byte:03o}"
