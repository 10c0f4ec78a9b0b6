"""Comments beside the code that they belong to."""

from __future__ import annotations

from typing import Any

from ddplint.semantics.structure import Statement


def has_comment(statement: Statement) -> bool:
    """Whether a statement of its own lines has a comment at its end or right above it."""
    line: Any = statement.node
    trailing = getattr(line, "trailing_whitespace", None)
    above = getattr(line, "leading_lines", ())[-1:]
    return any(getattr(place, "comment", None) is not None for place in (trailing, *above))
