"""What a rule is made of: its registration and what its check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.findings import Applicability, Confidence, Impact
from ddplint.source import Position

if TYPE_CHECKING:
    import libcst as cst

    from ddplint.semantics import Placed
    from ddplint.source import SourceFile
    from ddplint.source.suppressions import SuppressedCode, Suppression


@dataclass(frozen=True, slots=True)
class Rule:
    """The registration of a rule.

    ``triggers``: words without which the rule cannot fire; a file that holds none of them is not parsed for it.
    ``everyday``: the triggers are words of every script (print, open), so they count only in a distributed project.
    ``discharged_by``: frameworks that do this job themselves; in their projects the rule is silent.
    ``applicability``: the best promise that a fix of this rule makes, None when there is no fix.
    ``torch``: the torch version (major, minor) from which the rule holds, None for every version. ``torch_before``: the
    version from which it holds no more.
    ``pedantic``: all its findings are possible at best, so that they are shown with ``--pedantic`` only.
    """

    code: str
    name: str
    impact: Impact
    since: str
    triggers: tuple[str, ...]
    everyday: bool = False
    discharged_by: frozenset[str] = frozenset()
    applicability: Applicability | None = None
    torch: tuple[int, int] | None = None
    torch_before: tuple[int, int] | None = None
    pedantic: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a check saw, still tied to the tree; it lives only in the process that found it.

    ``at`` is an expression, a binding or the like, a bare node, or a pair of positions. ``related`` holds further
    places with a note each.
    ``subject`` is whatever the rule's fix wants to know. ``impact`` overrides the rule's own.
    """

    at: Placed | cst.CSTNode | tuple[Position, Position]
    message: str
    confidence: Confidence = Confidence.LIKELY
    related: tuple[tuple[Placed | cst.CSTNode, str], ...] = ()
    subject: object = None
    impact: Impact | None = None


@dataclass(frozen=True, slots=True)
class SuppressionReport:
    """How the suppression comments of one file fared, for the rules about suppressions.

    ``unused``: codes, or whole comments (None), of rules that ran in full and found nothing there to suppress.
    ``unknown``: codes that name no rule. ``malformed``: comments that look like a suppression but cannot be read.
    ``known``: every selector that names a rule, for "did you mean".
    """

    source: SourceFile
    unused: tuple[tuple[Suppression, SuppressedCode | None], ...]
    unknown: tuple[tuple[Suppression, SuppressedCode], ...]
    malformed: tuple[Suppression, ...]
    known: tuple[str, ...]
