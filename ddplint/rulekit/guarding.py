"""Statements that a fix puts under the script's own test of the first rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddplint.edits import Editor
    from ddplint.findings import Edit
    from ddplint.semantics import Call, Expression


@dataclass(frozen=True, slots=True)
class Guard:
    """The statement of a call, and the test to put it under."""

    line: Call
    test: Expression | str


def guarded(guards: Sequence[Guard], edits: Editor) -> tuple[str, tuple[Edit, ...]] | None:
    """Return the ``if`` line and the edits that put statements under it, None where one line can't serve them all.

    Raises CannotEdit for a statement that can't be indented.
    """
    texts = {guard.test if isinstance(guard.test, str) else edits.source_text(guard.test.node) for guard in guards}
    text = texts.pop()
    if texts or "\n" in text:
        return None
    header = f"if {text}:"
    changes = [edit for guard in guards for edit in edits.guard_statement(guard.line.statement.node, header)]
    return header, tuple(changes)
