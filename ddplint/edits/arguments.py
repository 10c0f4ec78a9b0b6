"""Arguments of calls: inserted, removed, replaced."""

from __future__ import annotations

import re
from enum import IntEnum

import libcst as cst

from ddplint.edits.errors import CannotEdit
from ddplint.edits.page import Page
from ddplint.edits.sequences import append_item, insert_item_before, remove_item
from ddplint.findings import Edit

_KEYWORD = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")


class _Kind(IntEnum):
    """Arguments of a lower kind stand before those of a higher one."""

    POSITIONAL = 0
    KEYWORD = 1
    DOUBLE_STARRED = 2

    @classmethod
    def of(cls, star: str, keyword: object | None) -> _Kind:
        if star == "**":
            return cls.DOUBLE_STARRED
        return cls.POSITIONAL if keyword is None else cls.KEYWORD


def insert_argument(page: Page, call: cst.Call, text: str, *, first: bool) -> Edit:
    """Insert an argument where its kind may stand; see ``Editor.insert_argument``."""
    keyword = _KEYWORD.match(text)
    if keyword is not None and any(arg.keyword is not None and arg.keyword.value == keyword[1] for arg in call.args):
        raise CannotEdit(f"the call has an argument {keyword[1]!r} already")
    if not call.args:
        return page.edit(_after_bracket(page, call), _after_bracket(page, call), text)
    if isinstance(call.args[0].value, cst.GeneratorExp) and not call.args[0].value.lpar:
        start, end = page.inner(call.args[0])
        generator = f"({page.cut(start, end)})"
        return page.edit(start, end, f"{text}, {generator}" if first else f"{generator}, {text}")
    kind = _Kind.of("**" if text.lstrip().startswith("**") else "", keyword)
    follower = next((arg for arg in call.args if first or _Kind.of(arg.star, arg.keyword) > kind), None)
    return append_item(page, call.args[-1], text) if follower is None else insert_item_before(page, follower, text)


def remove_argument(page: Page, call: cst.Call, argument: cst.Arg) -> Edit:
    """Remove an argument with its comma."""
    index = next((index for index, arg in enumerate(call.args) if arg is argument), None)
    if index is None:
        raise CannotEdit("the argument belongs to another call")
    if len(call.args) > 1:
        return remove_item(page, call.args, index)
    start, end = page.inner(argument)
    inside, closing = _after_bracket(page, call), page.inner(call)[1] - 1
    if "#" in page.cut(inside, start) + page.cut(end, closing):
        end = page.after_trivia(end) + 1 if isinstance(argument.comma, cst.Comma) else end
        return page.edit(start, end, "")
    return page.edit(inside, closing, "")


def _after_bracket(page: Page, call: cst.Call) -> int:
    """The offset after the call's opening bracket."""
    return page.after_trivia(page.outer(call.func)[1]) + 1
