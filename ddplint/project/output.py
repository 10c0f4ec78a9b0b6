"""Programs that change what ``print`` does, told from their text."""

from __future__ import annotations

import re
from functools import cache

# `print` of the builtins is replaced, or everything that is printed goes elsewhere.
_PRINT_REPLACED = re.compile(
    rb"\b(?:__builtins?__|builtins?)\.print\s*=[^=]"
    rb"|\bsetattr\(\s*(?:__builtins?__|builtins?)\s*,\s*[\"']print\b"
    rb"|\b(?:__builtins?__|builtins?)(?:\.__dict__)?\[[\"']print[\"']\]\s*=[^=]"
    rb"|\bsys\.stdout\s*=[^=]"
)


@cache
def replaces_print(content: bytes) -> bool:
    """Whether the text of a file puts something else in the place of ``print`` or of where it prints to."""
    return bool(_PRINT_REPLACED.search(content))
