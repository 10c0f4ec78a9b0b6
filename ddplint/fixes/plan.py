"""Which fixes can be made in one round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ddplint.findings import Edit, Fix

Key = TypeVar("Key", bound="tuple[Any, ...]")


def plan_round(fixes: Sequence[tuple[Key, Fix]]) -> tuple[tuple[Key, Fix], ...]:
    """Choose fixes that do not get in each other's way, in the order of their keys.

    A fix is chosen whole or not at all: one that has an edit too close to another fix's waits for a later round. An
    edit that a chosen fix makes already gets in nobody's way.
    """
    chosen: list[tuple[Key, Fix]] = []
    taken: dict[str, set[Edit]] = {}
    for key, fix in sorted(fixes, key=lambda keyed: keyed[0]):
        added = [edit for edit in fix.edits if edit not in taken.get(edit.path, ())]
        if any(_clash(edit, other) for edit in added for other in taken.get(edit.path, ())):
            continue
        chosen.append((key, fix))
        for edit in added:
            taken.setdefault(edit.path, set()).add(edit)
    return tuple(chosen)


def _clash(edit: Edit, other: Edit) -> bool:
    """Whether two fixes cannot make these edits of one file in one round.

    What only touches an insertion waits too: ``"a"`` and ``"b"`` inserted at one point by two fixes parse as one
    string. Only whole lines of one block can follow each other in any number.
    """
    if _is_whole_lines(edit) and _is_whole_lines(other) and _indentation(edit) == _indentation(other):
        return False
    if edit.start == edit.end or other.start == other.end:
        return edit.start <= other.end and other.start <= edit.end
    return edit.start < other.end and other.start < edit.end


def _is_whole_lines(edit: Edit) -> bool:
    """Whether an edit inserts lines between two lines."""
    return edit.start == edit.end and edit.start.column == 1 and edit.content.endswith("\n")


def _indentation(edit: Edit) -> str:
    code = edit.content.lstrip()
    return edit.content[: len(edit.content) - len(code)].rpartition("\n")[2]
