"""Tests for rule packs, made from the packs: examples of the documentation, fixtures and promises.

A pack's own test file needs a few lines:

    RULES = rules_of("acme_rules")
    TRIALS = [trial for rule in RULES for trial in example_trials(rule, "acme_rules")]

    @pytest.mark.parametrize("trial", TRIALS, ids=str)
    def test_example(trial):
        assert trial.problems() == []
"""

from __future__ import annotations

from ddplint.testing.bench import Observed, observe
from ddplint.testing.examples import example_trials
from ddplint.testing.fixtures import fixture_folder, fixture_problems, fixture_trials, project_trials
from ddplint.testing.packs import rules_of
from ddplint.testing.promises import applicability_problems, import_problems, message_problems, name_problems
from ddplint.testing.trial import Trial

__all__ = [
    "Observed",
    "Trial",
    "applicability_problems",
    "example_trials",
    "fixture_folder",
    "fixture_problems",
    "fixture_trials",
    "import_problems",
    "message_problems",
    "name_problems",
    "observe",
    "project_trials",
    "rules_of",
]
