"""A statement put under a header of its own."""

from __future__ import annotations

import re

import libcst as cst

from ddplint.edits.layout import Layout
from ddplint.edits.page import INTERPOLATED, Page, descendants
from ddplint.findings import Edit

_STRINGS = (cst.SimpleString, *INTERPOLATED)
_BLANK_LINE = re.compile(r"[ \t\f]*(?:\r?\n|\Z)")


def guard(layout: Layout, statement: cst.CSTNode, header: str) -> tuple[Edit, ...]:
    """Write a header and move the statement under it, one level deeper.

    One edit claims all that moves, so that no other edit can land in there at the old indentation.
    """
    page, seat, newline = layout.page, layout.seat(statement), layout.newline
    indentation, gap = layout.indentation(seat), layout.gap_before(seat)
    start = page.statement_start(statement)
    if seat.right is None:
        end = claimed = page.before_newline(page.statement_end(statement))
        after = ""
    else:
        end, claimed = page.inner(statement)[1], page.inner(seat.right)[0]
        after = newline + indentation
    body = _one_level_deeper(layout, start, end, indentation, _multi_line_strings(page, statement))
    content = f"{header}{newline}{indentation}{layout.unit}{body}{after}"
    if gap is None:
        return (page.edit(start, claimed, content),)
    opened = () if seat.left is None else layout.open_suite(seat)
    return (*opened, page.edit(gap[0], claimed, newline + indentation + content))


def _one_level_deeper(layout: Layout, start: int, end: int, indentation: str, strings: list[range]) -> str:
    """A stretch with its lines moved, all but the first; a line that starts inside a string stays where it is."""
    text = layout.page.text
    pieces, copied = [], start
    for newline in re.compile("\n").finditer(text, start, end):
        place = newline.end()
        if _BLANK_LINE.match(text, place) or any(place in string for string in strings):
            continue
        if text.startswith(indentation, place):
            place += len(indentation)
        pieces.append(text[copied:place] + layout.unit)
        copied = place
    return "".join(pieces) + text[copied:end]


def _multi_line_strings(page: Page, statement: cst.CSTNode) -> list[range]:
    """The offsets inside strings that hold a newline: what is written there is not indentation."""
    spans = [page.inner(node) for node in descendants(statement) if isinstance(node, _STRINGS)]
    return [range(start + 1, end) for start, end in spans if "\n" in page.cut(start, end)]
