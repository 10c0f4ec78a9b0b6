"""Files found, bytes turned into text and back exactly, places, suppression comments.

``ddplint.source.spans`` is imported by those who need it: it loads LibCST, which most files never need.
"""

from __future__ import annotations

from ddplint.source.discovery import Discovered, discover
from ddplint.source.limits import refusal
from ddplint.source.position import Position
from ddplint.source.suppressions import SuppressedCode, Suppression, find_suppressions
from ddplint.source.text import SourceFile, read_source, shown_path

__all__ = [
    "Discovered",
    "Position",
    "SourceFile",
    "SuppressedCode",
    "Suppression",
    "discover",
    "find_suppressions",
    "read_source",
    "refusal",
    "shown_path",
]
