from __future__ import annotations

import json

import pytest

from ddplint.errors import Defect
from ddplint.findings import Applicability, Impact
from ddplint.reporting.rules_table import BEGIN, END, render_rules, render_rules_json, rules_markdown, with_rules_table
from ddplint.rulekit.pack import RegisteredRule
from tests.unit.reporting.builders import DOCUMENTATION, rule

PORT = rule("DDP401", "hardcoded-port", Impact.CRASH, applicability=None)
EPOCH = rule(applicability=Applicability.UNSAFE)


def test_the_terminal_shows_columns() -> None:
    assert render_rules([EPOCH, PORT]).split("\n") == [
        "DDP202  missing-set-epoch  wrong  unsafe  The sampler deals the same order in every epoch.",
        "DDP401  hardcoded-port     crash  -       The sampler deals the same order in every epoch.",
        "",
    ]


def test_colour_does_not_shift_the_columns() -> None:
    painted = render_rules([EPOCH, PORT], color=True)
    assert painted != render_rules([EPOCH, PORT])
    assert painted.replace("\x1b[1m", "").replace("\x1b[0m", "") == render_rules([EPOCH, PORT])


def test_the_markdown_table_has_a_row_a_rule() -> None:
    summary = "The sampler deals the same order in every epoch."
    assert rules_markdown([EPOCH, PORT]).split("\n")[2:] == [
        f"| DDP202 | missing-set-epoch | wrong | unsafe | {summary} |",
        f"| DDP401 | hardcoded-port | crash | - | {summary} |",
        "",
    ]


def test_a_bar_in_a_summary_does_not_end_its_cell() -> None:
    text = DOCUMENTATION.replace("the same order", "a | b", 1)
    assert "deals a \\| b in" in rules_markdown([rule(documentation=text)])


def test_the_table_replaces_what_stands_between_the_markers_and_nothing_else() -> None:
    once = with_rules_table(f"before\n{BEGIN}\nan old table\n{END}\nafter\n", [EPOCH])
    assert once == f"before\n{BEGIN}\n{rules_markdown([EPOCH])}{END}\nafter\n"
    assert with_rules_table(once, [EPOCH]) == once


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("no marker at all", id="no marker"),
        pytest.param(f"{BEGIN}\n", id="only the first marker"),
        pytest.param(f"{END}\n{BEGIN}\n", id="markers the wrong way round"),
    ],
)
def test_a_document_without_a_place_for_the_table_is_refused(document: str) -> None:
    with pytest.raises(Defect, match="has no place"):
        with_rules_table(document, [EPOCH])


@pytest.mark.parametrize(
    ("registered", "key", "value"),
    [
        pytest.param(PORT, "fix", None, id="no fix is null"),
        pytest.param(EPOCH, "fix", "unsafe", id="a fix is its promise"),
        pytest.param(EPOCH, "torch", None, id="every torch version is null"),
        pytest.param(rule(torch=(2, 4)), "torch", "2.4", id="the torch version from which a rule holds"),
        pytest.param(rule(torch_before=(2, 13)), "torch_before", "2.13", id="the version from which it does not"),
        pytest.param(rule(documentation=None), "summary", "", id="a stripped docstring leaves the summary empty"),
    ],
)
def test_the_json_of_a_rule(registered: RegisteredRule, key: str, value: object) -> None:
    assert json.loads(render_rules_json([registered]))["rules"][0][key] == value
