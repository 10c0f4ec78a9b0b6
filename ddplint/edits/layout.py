"""How lines of statements are written into a file: its indentation, its newlines, its one-line blocks opened."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ddplint.edits.page import Page
from ddplint.edits.seats import Seat, Seats
from ddplint.findings import Edit

_SPACES_A_LEVEL = 4


class Layout:
    """Puts lines where statements sit. Lines come indented by four spaces a level."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.newline = page.source.newline
        self.unit = page.module.default_indent
        self._seats = Seats(page.module)

    def seat(self, statement: cst.CSTNode) -> Seat:
        """Raises CannotEdit for what is no statement in a block."""
        return self._seats.of(statement)

    def indentation(self, seat: Seat) -> str:
        """The whitespace before the lines of a statement's block, also where that block has no lines yet."""
        if seat.suite is not None:
            return self.page.indentation(self.page.inner(seat.owner)[0]) + self.unit
        return self.page.indentation(self.page.statement_start(seat.line))

    def lines_at(self, place: int, lines: Sequence[str], indentation: str) -> Edit:
        """Insert lines at the start of a line, or at the end of a file that has no final newline."""
        written = self._written(lines, indentation)
        if place > 0 and self.page.before_newline(place) == place:
            return self.page.edit(place, place, "".join(self.newline + line for line in written))
        return self.page.edit(place, place, "".join(line + self.newline for line in written))

    def gap_before(self, seat: Seat) -> tuple[int, int] | None:
        """The stretch between a statement and the colon or the statement before it on its line."""
        start, _ = self.page.inner(seat.statement)
        if seat.left is not None:
            return self.page.inner(seat.left)[1], start
        return None if seat.suite is None else (self.page.spans.whole(seat.suite)[0], start)

    def break_line(self, gap: tuple[int, int], lines: Sequence[str], indentation: str) -> Edit:
        """End a line in the gap before a statement, write lines, and let the statement start the next."""
        written = "".join(line + self.newline for line in self._written(lines, indentation))
        return self.page.edit(*gap, self.newline + written + indentation)

    def open_suite(self, seat: Seat) -> tuple[Edit, ...]:
        """Move the statements on a header's line to a line of their own; nothing to do for others."""
        if seat.suite is None:
            return ()
        gap = self.page.spans.whole(seat.suite)[0], self.page.inner(seat.suite.body[0])[0]
        return (self.break_line(gap, (), self.indentation(seat)),)

    def _written(self, lines: Sequence[str], indentation: str) -> list[str]:
        written = []
        for line in lines:
            code = line.lstrip(" ")
            levels, rest = divmod(len(line) - len(code), _SPACES_A_LEVEL)
            written.append(f"{indentation}{self.unit * levels}{' ' * rest}{code}" if code else "")
        return written
