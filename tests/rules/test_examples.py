"""The examples in the documentation of every rule do what they show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from ddplint.errors import PackError
from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing import Trial, applicability_problems, example_trials, rules_of


def all_trials() -> Iterator[Trial]:
    for rule in rules_of():
        with suppress(PackError):  # documentation that cannot be read fails in test_contract, and there alone
            yield from example_trials(rule)


@pytest.mark.parametrize("trial", list(all_trials()), ids=str)
def test_an_example_does_what_it_shows(trial: Trial) -> None:
    assert trial.problems() == []


@pytest.mark.parametrize("rule", rules_of(), ids=lambda rule: rule.rule.code)
def test_the_examples_keep_the_promise_of_the_fix(rule: RegisteredRule) -> None:
    assert applicability_problems(rule, example_trials(rule)) == []
