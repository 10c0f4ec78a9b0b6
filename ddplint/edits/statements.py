"""Statements: lines inserted around them, statements removed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ddplint.edits.errors import CannotEdit
from ddplint.edits.layout import Layout
from ddplint.edits.page import Page
from ddplint.findings import Edit

_COMMENT_LINE = re.compile(r"[ \t\f]*#")


def insert_before(layout: Layout, statement: cst.CSTNode, lines: Sequence[str]) -> tuple[Edit, ...]:
    """Insert lines above a statement and above the comments that stand right on top of it."""
    seat = layout.seat(statement)
    indentation, gap = layout.indentation(seat), layout.gap_before(seat)
    if gap is None:
        return (layout.lines_at(_above_comments(layout.page, seat.line), lines, indentation),)
    opened = () if seat.left is None else layout.open_suite(seat)
    return (*opened, layout.break_line(gap, lines, indentation))


def insert_after(layout: Layout, statement: cst.CSTNode, lines: Sequence[str]) -> tuple[Edit, ...]:
    """Insert lines below a statement and the comments that end its block."""
    seat = layout.seat(statement)
    if seat.right is not None:
        return insert_before(layout, seat.right, lines)
    place = layout.page.statement_end(statement)
    return (*layout.open_suite(seat), layout.lines_at(place, lines, layout.indentation(seat)))


def insert_first(layout: Layout, compound: cst.CSTNode, lines: Sequence[str]) -> tuple[Edit, ...]:
    """Insert lines where the block of a compound statement starts, after its docstring."""
    block = getattr(compound, "body", None)
    if not isinstance(block, cst.IndentedBlock | cst.SimpleStatementSuite):
        raise CannotEdit(f"a {type(compound).__name__} has no block of statements")
    first = block.body[0]
    small = first.body[0] if isinstance(first, cst.SimpleStatementLine) else first
    if isinstance(compound, cst.FunctionDef | cst.ClassDef) and is_docstring(small):
        return insert_after(layout, small, lines)
    if isinstance(block, cst.SimpleStatementSuite):
        return insert_before(layout, first, lines)
    place = layout.page.line_start(layout.page.spans.whole(first)[0])
    return (layout.lines_at(place, lines, layout.indentation(layout.seat(first))),)


def remove(layout: Layout, statement: cst.CSTNode) -> tuple[Edit, ...]:
    """Remove a statement; the only one of a block becomes ``pass``."""
    page, seat = layout.page, layout.seat(statement)
    start, end = page.statement_start(statement), page.inner(statement)[1]
    if seat.left is not None:
        return (page.edit(page.inner(seat.left)[1], end, ""),)
    if seat.right is not None:
        return (page.edit(start, page.inner(seat.right)[0], ""),)
    after = page.statement_end(statement)
    if seat.is_whole_block:
        is_compound = isinstance(statement, cst.BaseCompoundStatement)
        return (page.edit(start, page.before_newline(after) if is_compound else end, "pass"),)
    above = page.line_start(start)
    if page.before_newline(after) == after:
        # The file ends without a newline, and shall do so after.
        above = page.before_newline(above)
    return (page.edit(above, after, ""),)


def is_docstring(statement: cst.CSTNode) -> bool:
    """Whether a statement is nothing but a string."""
    return isinstance(statement, cst.Expr) and isinstance(statement.value, cst.SimpleString | cst.ConcatenatedString)


def _above_comments(page: Page, line: cst.CSTNode) -> int:
    """Where a line of statements starts, or the first comment right above it."""
    place = page.line_start(page.statement_start(line))
    limit = page.spans.whole(line)[0]
    while place > limit:
        above = page.line_start(page.before_newline(place))
        if not _COMMENT_LINE.match(page.text, above):
            break
        place = above
    return place
