"""The examples in the documentation of every rule do what they show."""

from __future__ import annotations

import pytest

from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing import Trial, applicability_problems, example_trials, rules_of

TRIALS = {rule.rule.code: example_trials(rule) for rule in rules_of()}


@pytest.mark.parametrize("trial", [trial for trials in TRIALS.values() for trial in trials], ids=str)
def test_an_example_does_what_it_shows(trial: Trial) -> None:
    assert trial.problems() == []


@pytest.mark.parametrize("rule", rules_of(), ids=lambda rule: rule.rule.code)
def test_the_examples_keep_the_promise_of_the_fix(rule: RegisteredRule) -> None:
    assert applicability_problems(rule, TRIALS[rule.rule.code]) == []
