"""The documentation of a rule on a terminal."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from ddplint.findings import Applicability
from ddplint.reporting.escape import visible, visible_text
from ddplint.reporting.markdown import Block, BlockKind, documentation_blocks
from ddplint.reporting.style import Paint, Style

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule
    from ddplint.rulekit.rule import Rule

_FIX = {Applicability.SAFE: "safe, with --fix", Applicability.UNSAFE: "with --unsafe-fixes", None: "none"}
_STRIPPED = (
    "The documentation of this rule is not there: Python was started with -OO (or PYTHONOPTIMIZE=2), which strips it.\n"
    "Start Python without it to read the documentation."
)


def render_explanation(registered: RegisteredRule, *, color: bool = False) -> str:
    """Return a rule's head line, its summary and the sections of its documentation."""
    style = Style(color)
    documentation = registered.documentation
    parts = [_head(registered.rule, style)]
    if documentation.summary:
        parts.append(visible(documentation.summary))
        parts += [_terminal(block, style) for block in documentation_blocks(documentation)]
    else:
        parts.append(_STRIPPED)
    return "\n\n".join(parts) + "\n"


def _head(rule: Rule, style: Style) -> str:
    facts = f"impact: {rule.impact.value}; fix: {_FIX[rule.applicability]}; since: ddplint {visible(rule.since)}"
    return f"{style.paint(Paint.BOLD, f'{rule.code} {rule.name}')} ({facts}; torch: {_versions(rule)})"


def _versions(rule: Rule) -> str:
    since = None if rule.torch is None else f"{rule.torch[0]}.{rule.torch[1]} and newer"
    until = None if rule.torch_before is None else f"before {rule.torch_before[0]}.{rule.torch_before[1]}"
    return ", ".join(filter(None, (since, until))) or "any version"


def _terminal(block: Block, style: Style) -> str:
    text = visible_text(block.text)
    if block.kind is BlockKind.HEADING:
        return style.paint(Paint.BOLD, text) if style.color else f"## {text}"
    if block.kind is BlockKind.TEXT:
        return text
    label = f"{style.paint(Paint.CYAN, visible(block.label))}:\n\n" if block.label else ""
    return label + indent(text, "    ")
