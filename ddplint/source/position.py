"""Where something stands in a file."""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """A point between two characters of a file: line and column from 1, columns in code points."""

    line: int
    column: int
