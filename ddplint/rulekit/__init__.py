"""The face for rule authors: everything that a rule file imports comes from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddplint.findings import Applicability, Confidence, Edit, Fix, Impact
from ddplint.rulekit.rule import Found, Rule, SuppressionReport
from ddplint.source import Position

if TYPE_CHECKING:
    from ddplint.edits import Editor
else:
    Editor = Any  # only annotations name it, and the real one would import libcst before a file needs it

__all__ = ["Applicability", "Confidence", "Edit", "Editor", "Fix", "Found", "Impact", "Position", "Rule", "SuppressionReport"]
