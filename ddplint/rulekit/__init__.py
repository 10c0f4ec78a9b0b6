"""The face for rule authors: everything that a rule file imports comes from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddplint.findings import Applicability, Confidence, Edit, Fix, Impact
from ddplint.project import Project
from ddplint.rulekit.rule import Found, Rule, SuppressionReport
from ddplint.semantics import (
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
    Operation,
    ParseFailure,
    Passed,
    Script,
    Sequence,
    Subscript,
)
from ddplint.semantics.arguments import Missing
from ddplint.semantics.names import LOCAL, UNKNOWN_NAME
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import UNKNOWN, Imported, Origin, Part
from ddplint.semantics.structure import (
    Binding,
    BindingKind,
    Class,
    Exit,
    ExitKind,
    Function,
    Loop,
    LoopKind,
    Parameter,
    Region,
    RegionKind,
    Statement,
    Store,
)
from ddplint.source import Position, SourceFile

if TYPE_CHECKING:
    from ddplint.edits import Editor
else:
    Editor = Any  # only annotations name it, and the real one would import libcst before a file needs it

__all__ = [
    "LOCAL",
    "UNKNOWN",
    "UNKNOWN_NAME",
    "Applicability",
    "Argument",
    "Assigned",
    "Attribute",
    "Binding",
    "BindingKind",
    "Call",
    "Class",
    "Comparison",
    "Comprehension",
    "Conditional",
    "Confidence",
    "Constant",
    "Edit",
    "Editor",
    "Exit",
    "ExitKind",
    "Expression",
    "Fix",
    "FormattedText",
    "Found",
    "Function",
    "Impact",
    "Imported",
    "Lambda",
    "Logic",
    "Loop",
    "LoopKind",
    "Mapping",
    "Missing",
    "Name",
    "Not",
    "Operation",
    "Origin",
    "Parameter",
    "ParseFailure",
    "Part",
    "Passed",
    "Position",
    "Project",
    "Region",
    "RegionKind",
    "Rule",
    "Script",
    "Sequence",
    "SourceFile",
    "Statement",
    "Store",
    "Subscript",
    "SuppressionReport",
    "reaching",
]
