"""The examples in the documentation of a rule, as trials."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit.documentation import ExampleKind
from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing.trial import Trial

_FILE = "example.py"


def example_trials(rule: RegisteredRule, pack: str | None = None) -> list[Trial]:
    """Return a trial for each bad example of a rule, with its fixed form if one follows, and for each good one."""
    return list(_trials(rule, pack))


def _trials(rule: RegisteredRule, pack: str | None) -> Iterator[Trial]:
    examples = rule.documentation.examples
    for example, following in zip(examples, (*examples[1:], None), strict=True):
        if example.kind is ExampleKind.FIXED:
            continue
        fixed = {_FILE: following.code} if following is not None and following.kind is ExampleKind.FIXED else {}
        title = f"{rule.rule.code} {example.kind.value} example, line {example.line} of the docstring"
        yield Trial(title, rule, {_FILE: example.code}, fixed, pack)
