"""A line of code with carets under a span of it, aligned for tabs, wide characters and cut lines."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ddplint.findings import Place
from ddplint.reporting.escape import visible

TAB = 4
WIDEST = 110
LEAD = 30  # columns kept before the span when the line is cut on its left
CUT = "..."


def code_frame(place: Place) -> tuple[str, str]:
    """Return the line on which a place starts, as a terminal shows it, and the line of carets under its span.

    The caret line runs to the end of the line when the span goes on below. Lines wider than ``WIDEST`` terminal
    columns are cut around the start of the span.
    """
    line = place.excerpt.rstrip()
    first = min(place.start.column - 1, len(line))
    last = len(line) if place.end.line > place.start.line else min(place.end.column - 1, len(line))
    cells = tuple(_cells(line))
    edges = tuple(accumulate(map(_width, cells), initial=0))
    low, high = _window(edges, first, last)
    before, after = CUT if low else "", CUT if high < len(cells) else ""
    indent = len(before) + edges[first] - edges[low]
    carets = max(1, edges[min(last, high)] - edges[first])
    return before + "".join(cells[low:high]) + after, " " * indent + "^" * carets


def _cells(line: str) -> Iterator[str]:
    """Yield what is shown for each character of a line."""
    column = 0
    for char in line:
        cell = " " * (TAB - column % TAB) if char == "\t" else visible(char)
        column += _width(cell)
        yield cell


def _width(text: str) -> int:
    """Return the number of terminal columns that printable text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _window(edges: Sequence[int], first: int, last: int) -> tuple[int, int]:
    """Return which cells to show, as a half-open range; ``edges`` are the columns at which the cells begin."""
    if edges[-1] <= WIDEST:
        return 0, len(edges) - 1
    room = WIDEST - 2 * len(CUT)
    start = 0 if edges[last] <= room else max(0, edges[first] - LEAD)
    start = min(start, edges[-1] - room)
    return bisect_left(edges, start), bisect_right(edges, start + room) - 1
