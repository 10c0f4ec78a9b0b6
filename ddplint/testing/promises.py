"""What a rule promises by being a rule, and whether it keeps that."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ddplint.findings import Applicability, Finding
from ddplint.rulekit.documentation import ExampleKind
from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing.trial import Trial

# A rule's name is what the user allows when the rule is switched off, so it never starts with the remedy.
_REMEDIES = frozenset(
    {"add", "allow", "always", "avoid", "call", "check", "ensure", "fix", "forbid", "must", "never", "prefer", "remove"}
    | {"require", "should", "use"}
)
_FACE = "ddplint.rulekit"
_ODD_ENDING = re.compile(r"[\s.,:;([{`'\"-]$")
_QUOTES = ("`", '"')
_QUOTED = re.compile(r"'[^']*'|`[^`]*`")
_BRACKETS = ("()", "[]", "{}")


def name_problems(rule: RegisteredRule) -> list[str]:
    """Return a sentence if the name of a rule says what to do instead of what is wrong."""
    first = rule.rule.name.split("-")[0]
    return [f"{rule.rule.name} starts with the remedy, {first!r}"] if first in _REMEDIES else []


def message_problems(findings: Iterable[Finding]) -> list[str]:
    """Return a sentence for each message and note that is not a line that ends well."""
    texts = {finding.message for finding in findings}
    texts |= {finding.fix.message for finding in findings if finding.fix is not None}
    texts |= {place.note for finding in findings for place in finding.related}
    return [f"{problem}: {text!r}" for text in sorted(texts) for problem in _text_problems(text)]


def applicability_problems(rule: RegisteredRule, trials: Iterable[Trial]) -> list[str]:
    """Return a sentence if the examples of a rule contradict the promise that its fixes make."""
    promised = rule.rule.applicability
    shown = any(example.kind is ExampleKind.FIXED for example in rule.documentation.examples)
    if shown != (promised is not None):
        return [f"{rule.rule.code} {'shows no fixed example' if promised else 'shows a fixed example and has no fix'}"]
    made = {
        finding.fix.applicability
        for trial in trials
        for finding in trial.observed.findings
        if finding.fix is not None and trial.fixed
    }
    best = Applicability.SAFE if Applicability.SAFE in made else Applicability.UNSAFE if made else None
    return (
        [] if best is promised else [f"{rule.rule.code} announces {_value(promised)}, its examples show {_value(best)}"]
    )


def import_problems(rule: RegisteredRule) -> list[str]:
    """Return a sentence for each import of a rule that is neither the standard library nor ``ddplint.rulekit``."""
    tree = ast.parse(Path(str(rule.module.__file__)).read_bytes())
    return [f"{rule.rule.code} imports {name}" for name in _imported(tree) if not _is_allowed(name)]


def _text_problems(text: str) -> Iterator[str]:
    if not text or "\n" in text or "  " in text or text != text.strip():
        yield "not one line of text"
    elif _ODD_ENDING.search(text) and not _closes_quote(text):
        yield "ends oddly"
    if any(text.count(quote) % 2 for quote in _QUOTES):
        yield "a quote stays open"
    prose = _QUOTED.sub("", text)
    if any(prose.count(pair[0]) != prose.count(pair[1]) for pair in _BRACKETS):
        yield "a bracket stays open"


def _closes_quote(text: str) -> bool:
    return text[-1] in "`'\"" and len(text) > 1 and text[-2] not in " `'\"("


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def _is_allowed(module: str) -> bool:
    return module == _FACE or module.partition(".")[0] in sys.stdlib_module_names


def _value(applicability: Applicability | None) -> str:
    return "no fix" if applicability is None else f"{applicability.value} fixes"
