"""Expressions as messages show them."""

from __future__ import annotations

from ddplint.semantics.expressions import Attribute, Call, Expression

# A message has no room for more of an expression than this.
_LONGEST = 60


def shown(expression: Expression) -> str:
    """Return the text of an expression on one line, of a call only what is called."""
    if isinstance(expression, Call):
        return f"{shown(expression.callee)}(...)" if expression.arguments else f"{shown(expression.callee)}()"
    if isinstance(expression, Attribute):
        return f"{shown(expression.base)}.{expression.name}"
    return written(expression)


def written(expression: Expression) -> str:
    """Return the text of an expression on one line, shortened where it is long."""
    text = " ".join(expression.scope.script.module.code_for_node(expression.node).split())
    text = text.replace("( ", "(").replace(" )", ")")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4].rstrip()} ..."
