"""The pages of the rules in ``docs/``: one each, an index, and one that leads there from symptoms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ddplint.reporting.markdown import documentation_markdown
from ddplint.rulekit.symptoms import symptoms_of

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule

_MADE = "<!-- made by docs/generate.py from the documentation in the rules; change it there -->"
_FIX = {"safe": "safe, with `--fix`", "unsafe": "with `--unsafe-fixes`", None: "none"}


def rule_pages(rules: Sequence[RegisteredRule]) -> Mapping[str, str]:
    """Return the text of each page, by its path below ``docs/``."""
    pages = {f"rules/{_name(rule)}": _page(rule) for rule in rules}
    return {**pages, "rules/README.md": _index(rules), "symptoms.md": _symptoms(rules)}


def _name(registered: RegisteredRule) -> str:
    return f"{registered.rule.code}_{registered.rule.name.replace('-', '_')}.md"


def _page(registered: RegisteredRule) -> str:
    rule = registered.rule
    fix = _FIX[rule.applicability.value if rule.applicability else None]
    torch = "any version" if rule.torch is None else f"{rule.torch[0]}.{rule.torch[1]} and newer"
    facts = f"Impact: {rule.impact.value}. Fix: {fix}. Since: ddplint {rule.since}. Torch: {torch}."
    runs = "yes" if registered.verdict else "no"
    body = documentation_markdown(registered.documentation)
    return f"{_MADE}\n\n# {rule.code} {rule.name}\n\n{facts} Judged by `ddplint confirm`: {runs}.\n\n{body}\n"


def _index(rules: Iterable[RegisteredRule]) -> str:
    lines = ["| Rule | Impact | What it finds |", "| --- | --- | --- |"]
    for registered in rules:
        rule, summary = registered.rule, registered.documentation.summary.replace("|", "\\|")
        lines.append(f"| [{rule.code} {rule.name}]({_name(registered)}) | {rule.impact.value} | {summary} |")
    return "\n".join(
        [_MADE, "", "# The rules", "", "From what you see to a rule: [symptoms](../symptoms.md).", "", *lines, ""]
    )


def _symptoms(rules: Iterable[RegisteredRule]) -> str:
    """Return the symptoms in the order of the alphabet, each with the rules that speak of it."""
    leads: dict[str, list[str]] = {}
    for registered in rules:
        for symptom in symptoms_of(registered):
            leads.setdefault(symptom, []).append(f"[{registered.rule.code}](rules/{_name(registered)})")
    lines = [f"| {_cell(symptom)} | {', '.join(links)} |" for symptom, links in sorted(leads.items(), key=_by_text)]
    head = ["| What you see, or what torch says | Rules |", "| --- | --- |"]
    hint = 'At the shell: `ddplint explain --symptom "my training hangs"`. Of the machine: `ddplint doctor`.'
    return "\n".join([_MADE, "", "# Symptoms", "", hint, "", *head, *lines, ""])


def _by_text(item: tuple[str, list[str]]) -> str:
    return item[0].lower()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "")
