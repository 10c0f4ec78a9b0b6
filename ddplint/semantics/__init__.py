"""One file understood: a single walk over its syntax tree gives a script that answers questions."""

from __future__ import annotations

from ddplint.semantics.expressions import (
    Argument,
    Assigned,
    Attribute,
    Call,
    Comparison,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    FormattedText,
    Lambda,
    Logic,
    Mapping,
    Name,
    Not,
    Opaque,
    Operation,
    Passed,
    Sequence,
    Slice,
    Subscript,
)
from ddplint.semantics.failure import ParseFailure
from ddplint.semantics.script import Placed, Script

__all__ = [
    "Argument",
    "Assigned",
    "Attribute",
    "Call",
    "Comparison",
    "Comprehension",
    "Conditional",
    "Constant",
    "Expression",
    "FormattedText",
    "Lambda",
    "Logic",
    "Mapping",
    "Name",
    "Not",
    "Opaque",
    "Operation",
    "ParseFailure",
    "Passed",
    "Placed",
    "Script",
    "Sequence",
    "Slice",
    "Subscript",
]
