"""Arguments of calls: inserted, removed, replaced."""

from __future__ import annotations

import re

import libcst as cst

from ddplint.edits.errors import CannotEdit
from ddplint.edits.page import Page
from ddplint.edits.sequences import append_item, insert_item_before, remove_item
from ddplint.findings import Edit

_KEYWORD = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")


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
    follower = call.args[0] if first else _follower(call, is_keyword=keyword is not None)
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


def _follower(call: cst.Call, *, is_keyword: bool) -> cst.Arg | None:
    """The first argument that a new one has to stand before."""
    for arg in call.args:
        if arg.star == "**" or (arg.keyword is not None and not is_keyword):
            return arg
    return None
