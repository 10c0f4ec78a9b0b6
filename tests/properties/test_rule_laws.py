"""What a rule says does not hang on names, on the order of imports or on blank lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing import Trial, example_trials, fixture_trials, rules_of
from tests.properties.rewrites import (
    ends_of_outer_statements,
    ends_of_statements,
    extractable,
    import_blocks,
    in_a_function,
    parses,
    renameable,
    with_blank_lines,
    with_helper,
    with_imports_in_order,
    with_name,
    with_unrelated_statements,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "rules"
# A file that does not parse has no names, imports or statements.
RULES = [rule for rule in rules_of() if rule.check_unparsable is None]

# What these judge lies in one function: where a helper holds a part of it, they are silent, never louder.
IN_ONE_FUNCTION = {f"DDP{number}" for number in (106, 109, 114, 116, 210, 407, 409, 414, 506, 513, 704, 710)}
# It speaks of what runs whenever a file is imported, which the body of a function does not.
AT_IMPORT = {"DDP420"}
# A best value is known by its name.
BY_NAME = {"DDP512"}

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule.code)
few_examples = settings(max_examples=15, deadline=None)


def problems(rule: RegisteredRule, text: str) -> list[str]:
    """What is wrong with the findings in a changed example."""
    return Trial("a changed example", rule, {"example.py": text}).problems()


def an_example(data: st.DataObject, rule: RegisteredRule) -> str:
    """The text of one of the rule's examples, with its marks."""
    texts = [trial.files["example.py"] for trial in example_trials(rule)]
    # What Python refuses has no names, imports or statements that could be told apart.
    return data.draw(st.sampled_from([text for text in texts if parses(text)]))


@each_rule
@few_examples
@given(st.data())
def test_blank_lines_change_nothing(rule: RegisteredRule, data: st.DataObject) -> None:
    text = an_example(data, rule)
    after = data.draw(st.lists(st.sampled_from(ends_of_statements(text)), unique=True))
    changed = with_blank_lines(text, after, data.draw(st.integers(1, 3)))
    assert problems(rule, changed) == [], changed


@each_rule
@few_examples
@given(st.data())
def test_unrelated_statements_change_nothing(rule: RegisteredRule, data: st.DataObject) -> None:
    text = an_example(data, rule)
    after = data.draw(st.lists(st.sampled_from(ends_of_outer_statements(text)), unique=True))
    changed = with_unrelated_statements(text, after)
    assert problems(rule, changed) == [], changed


@each_rule
@few_examples
@given(st.data())
def test_the_order_of_imports_changes_nothing(rule: RegisteredRule, data: st.DataObject) -> None:
    text = an_example(data, rule)
    order = data.draw(st.permutations(range(len(import_blocks(text)))))
    changed = with_imports_in_order(text, order)
    assert problems(rule, changed) == [], changed


@each_rule
@few_examples
@given(st.data())
def test_the_names_of_variables_change_nothing(rule: RegisteredRule, data: st.DataObject) -> None:
    text = an_example(data, rule)
    names = [name for name in renameable(text) if rule.rule.code not in BY_NAME or "best" not in name]
    changed = text
    for number, name in enumerate(data.draw(st.lists(st.sampled_from(names), unique=True)) if names else ()):
        changed = with_name(changed, name, f"renamed_{number}")
    assert problems(rule, changed) == [], changed


@each_rule
def test_a_flat_script_is_judged_as_the_same_in_a_function(rule: RegisteredRule) -> None:
    trials = [*example_trials(rule), *fixture_trials(FIXTURES, rule)]
    for text in filter(parses, (text for trial in trials if len(trial.files) == 1 for text in trial.files.values())):
        changed = in_a_function(text)
        found = [] if changed is None else problems(rule, changed)
        assert found == [] or (rule.rule.code in AT_IMPORT and all("not said" in one for one in found)), changed


@each_rule
def test_a_helper_changes_nothing(rule: RegisteredRule) -> None:
    texts = [trial.files["example.py"] for trial in example_trials(rule)]
    for text in filter(parses, texts):
        for lineno in extractable(text):
            changed = with_helper(text, lineno)
            found = problems(rule, changed)
            # The place may be the call of the helper instead of the line in it.
            said = [problem for problem in found if "is said and not announced" in problem]
            missed = [problem for problem in found if "is announced and not said" in problem]
            assert len(said) == len(missed) or (rule.rule.code in IN_ONE_FUNCTION and len(said) < len(missed)), changed
