"""Statements that a fix takes away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddplint.semantics import Call
from ddplint.semantics.speech import is_whole_statement
from ddplint.semantics.structure import Store

if TYPE_CHECKING:
    from ddplint.edits import Editor
    from ddplint.findings import Edit


def removed(at: Call | Store, edits: Editor) -> tuple[Edit, ...]:
    """Return the edits that take away a statement which does nothing but this call or store, else none.

    Raises CannotEdit for a statement that can't be taken out of its block.
    """
    if isinstance(at, Call):
        return edits.remove_statement(at.statement.node) if is_whole_statement(at) else ()
    small: Any = at.statement.node
    small = small.body[0] if hasattr(small, "body") else small
    return edits.remove_statement(at.statement.node) if len(getattr(small, "targets", ())) == 1 and not at.path else ()
