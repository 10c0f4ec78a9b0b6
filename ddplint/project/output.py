"""Programs that change what ``print`` or the bars of tqdm do, told from their text."""

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

# The bars are switched off as a whole, or the error stream, on which they are drawn, goes elsewhere.
_BARS_HIDDEN = re.compile(
    rb"\bsys\.stderr\s*=[^=]|\bredirect_stderr\(|\btqdm\.__init__\s*=[^=]"
    rb"|[\"']TQDM_DISABLE[\"']|\bdup2\([^)\n]*stderr"
)


@cache
def replaces_print(content: bytes) -> bool:
    """Whether the text of a file puts something else in the place of ``print`` or of where it prints to."""
    return bool(_PRINT_REPLACED.search(content))


@cache
def hides_bars(content: bytes) -> bool:
    """Whether the text of a file switches all progress bars off, or sends the error stream elsewhere."""
    return bool(_BARS_HIDDEN.search(content))
