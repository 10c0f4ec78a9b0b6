"""Items between commas: the arguments of a call, the names of an import.

An item goes where the neighbours' style puts it: on a line of its own where the last item has one, else after it.
A comment stays beside the item that it was written for; only a comment on the line of a removed item goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ddplint.edits.page import Page
from ddplint.findings import Edit

Item = cst.Arg | cst.ImportAlias

_REST_OF_LINE = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?:\r?\n|\Z)")


def append_item(page: Page, last: Item, text: str) -> Edit:
    """Insert an item behind the last one, in brackets."""
    start, end = page.inner(last)
    if not page.starts_line(start):
        return page.edit(end, end, f", {text}")
    own_line = page.source.newline + page.cut(page.line_start(start), start)
    comma = _after_comma(page, last)
    rest = _REST_OF_LINE.match(page.text, comma or end)
    place = rest.end(1) if rest is not None and rest[1] else comma or end
    if comma is None:
        return page.edit(end, place, f",{page.cut(end, place)}{own_line}{text}")
    return page.edit(place, place, f"{own_line}{text},")


def insert_item_before(page: Page, item: Item, text: str) -> Edit:
    """Insert an item in front of another one, in brackets."""
    start, _ = page.inner(item)
    if page.starts_line(start):
        return page.edit(start, start, f"{text},{page.source.newline}{page.cut(page.line_start(start), start)}")
    return page.edit(start, start, f"{text}, ")


def remove_item(page: Page, items: Sequence[Item], index: int) -> Edit:
    """Remove one of at least two items with the comma that it no longer needs."""
    start, end = page.inner(items[index])
    comma = _after_comma(page, items[index])
    own_lines = _own_lines(page, start, comma or end)
    if own_lines is not None:
        return page.edit(*own_lines, "")
    last = index == len(items) - 1
    if index > 0:
        before = page.after_trivia(page.inner(items[index - 1])[1])
        if not re.search("#" if last else "[#\n]", page.cut(before, start)):
            return page.edit(before, end, "")
    if not last and "#" not in page.cut(end, page.inner(items[index + 1])[0]):
        return page.edit(start, page.inner(items[index + 1])[0], "")
    return page.edit(start, comma or end, "")


def _after_comma(page: Page, item: Item) -> int | None:
    """The offset after the item's own comma."""
    if not isinstance(item.comma, cst.Comma):
        return None
    return page.after_trivia(page.inner(item)[1]) + 1


def _own_lines(page: Page, start: int, end: int) -> tuple[int, int] | None:
    """The whole lines of an item that shares none of them."""
    rest = _REST_OF_LINE.match(page.text, end)
    if rest is None or not page.starts_line(start):
        return None
    return page.line_start(start), rest.end()
