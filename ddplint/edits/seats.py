"""Where statements sit: on lines of their own, beside others between semicolons, or behind the colon of a header.

LibCST nodes do not know their parents; this finds them for statements, in one walk that enters no expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ddplint.edits.errors import CannotEdit


@dataclass(frozen=True, slots=True)
class Seat:
    """A statement and what is around it.

    ``owner`` has the block that holds the statement, and ``block_length`` counts the lines of statements in it.
    ``line`` is what holds the statement together with its neighbours ``left`` and ``right``; a statement that fills
    its lines is its own.
    """

    statement: cst.CSTNode
    owner: cst.CSTNode
    block_length: int
    line: cst.CSTNode
    left: cst.BaseSmallStatement | None = None
    right: cst.BaseSmallStatement | None = None

    @property
    def suite(self) -> cst.SimpleStatementSuite | None:
        """The line, when it is the rest of a header's line."""
        return self.line if isinstance(self.line, cst.SimpleStatementSuite) else None

    @property
    def is_whole_block(self) -> bool:
        """Whether its block, which has to hold something, would be empty without it."""
        alone = self.left is None and self.right is None
        return alone and self.block_length == 1 and not isinstance(self.owner, cst.Module)


class Seats:
    """The seats of all statements of a module."""

    def __init__(self, module: cst.Module) -> None:
        self._seats = {id(seat.statement): seat for seat in _seats_in(module)}

    def of(self, statement: cst.CSTNode) -> Seat:
        """Raises CannotEdit for a node that is no statement of the module, and for an ``elif``."""
        seat = self._seats.get(id(statement))
        if seat is None:
            raise CannotEdit(f"a {type(statement).__name__} has no place of its own in a block")
        return seat


def _seats_in(module: cst.Module) -> Iterator[Seat]:
    owners: list[cst.CSTNode] = [module]
    while owners:
        owner = owners.pop()
        lines = _lines_of(owner)
        for line in lines:
            if isinstance(line, cst.BaseCompoundStatement):
                owners.append(line)
            else:
                yield from _small_seats(owner, len(lines), line)
            yield Seat(line, owner, len(lines), line)
        owners.extend(_branches(owner))


def _lines_of(owner: cst.CSTNode) -> Sequence[cst.CSTNode]:
    body = getattr(owner, "body", ())
    if isinstance(body, cst.SimpleStatementSuite):
        return (body,)
    return body.body if isinstance(body, cst.IndentedBlock) else body


def _small_seats(owner: cst.CSTNode, block_length: int, line: cst.CSTNode) -> Iterator[Seat]:
    assert isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite)
    row = (None, *line.body, None)
    for left, small, right in zip(row, line.body, row[2:], strict=False):
        yield Seat(small, owner, block_length, line, left, right)


def _branches(compound: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of a compound statement that have blocks of their own: except, case, else, finally."""
    yield from getattr(compound, "handlers", ())
    yield from getattr(compound, "cases", ())
    for name in ("orelse", "finalbody"):
        branch = getattr(compound, name, None)
        if branch is not None:
            yield branch
