"""Colour, on or off."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Paint(Enum):
    """What a stretch of text looks like on a terminal: the parameter of its SGR sequence."""

    BOLD = "1"
    DIM = "2"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"
    CYAN = "36"


@dataclass(frozen=True, slots=True)
class Style:
    """Paints text when colour is wanted and leaves it alone when not."""

    color: bool = False

    def paint(self, paint: Paint, text: str) -> str:
        return f"\x1b[{paint.value}m{text}\x1b[0m" if self.color else text
