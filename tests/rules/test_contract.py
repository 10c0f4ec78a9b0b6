"""What every rule of the pack has to be, beyond finding what it finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ddplint.reporting.rules_table import with_rules_table
from ddplint.rulekit.documentation import SECTIONS
from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing import (
    example_trials,
    fixture_trials,
    import_problems,
    message_problems,
    name_problems,
    rules_of,
)

ROOT = Path(__file__).parents[2]
RULES = rules_of()
FAMILIES = {
    "linter": "DDP0",
    "wrapping": "DDP1",
    "data": "DDP2",
    "optimisation": "DDP3",
    "launch": "DDP4",
    "collectives": "DDP5",
    "output": "DDP6",
    "speed": "DDP7",
    "deprecated": "DDP8",
}

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule.code)


def test_there_are_rules() -> None:
    assert RULES


@pytest.mark.parametrize("key", ["code", "name"])
def test_no_two_rules_share(key: str) -> None:
    claims = Counter(getattr(rule.rule, key) for rule in RULES)
    assert [claim for claim, count in claims.items() if count > 1] == []


@each_rule
def test_the_documentation_has_every_section_with_text_in_it(rule: RegisteredRule) -> None:
    assert [name for name in SECTIONS if not rule.documentation.sections.get(name)] == []


@each_rule
def test_the_summary_is_a_short_line_without_a_full_stop(rule: RegisteredRule) -> None:
    summary = rule.documentation.summary
    assert 0 < len(summary) <= 120
    assert not summary.endswith(".")


@each_rule
def test_the_name_says_what_is_wrong(rule: RegisteredRule) -> None:
    assert name_problems(rule) == []


@each_rule
def test_the_file_is_called_as_the_rule(rule: RegisteredRule) -> None:
    assert rule.module.__name__.rpartition(".")[2] == rule.rule.name.replace("-", "_")


@each_rule
def test_the_code_belongs_to_the_family_of_the_folder(rule: RegisteredRule) -> None:
    family = rule.module.__name__.split(".")[1]
    assert rule.rule.code.startswith(FAMILIES[family])


@each_rule
def test_the_rule_is_built_on_the_face_for_rule_authors_alone(rule: RegisteredRule) -> None:
    assert import_problems(rule) == []


@each_rule
def test_every_message_is_a_line_that_ends_well(rule: RegisteredRule) -> None:
    trials = example_trials(rule) + fixture_trials(ROOT / "fixtures" / "rules", rule)
    findings = [finding for trial in trials for finding in trial.observed.findings]
    assert findings
    assert message_problems(findings) == []


def test_the_table_of_rules_in_the_readme_is_up_to_date() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == with_rules_table(readme, RULES)
