"""The edge cases in ``fixtures/`` are judged as their marks say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.testing import Trial, fixture_problems, fixture_trials, project_trials, rules_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
RULE_FIXTURES = FIXTURES / "rules"


@pytest.mark.parametrize(
    "trial", [trial for rule in rules_of() for trial in fixture_trials(RULE_FIXTURES, rule)], ids=str
)
def test_a_fixture_is_judged_as_it_is_marked(trial: Trial) -> None:
    assert trial.problems() == []


@pytest.mark.parametrize("trial", project_trials(FIXTURES / "projects"), ids=str)
def test_a_project_is_judged_as_it_is_marked(trial: Trial) -> None:
    assert trial.problems() == []


def test_every_rule_has_its_fixtures_and_every_fixture_its_rule() -> None:
    assert fixture_problems(RULE_FIXTURES, rules_of()) == []
