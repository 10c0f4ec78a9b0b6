"""What is known to hold in a region, and which places contradict each other."""

from __future__ import annotations

import pytest

from ddplint.semantics import Name
from ddplint.semantics.facts import are_contradictory, facts, is_settled
from ddplint.semantics.parse import parse
from ddplint.source import SourceFile

KNOWN = [
    pytest.param("if a:\n    here()", {("a", True)}, id="a name"),
    pytest.param("if not a.b:\n    here()", {("a.b", False)}, id="an attribute, negated"),
    pytest.param("if a:\n    pass\nelse:\n    here()", {("a", False)}, id="the other arm"),
    pytest.param("if a and b():\n    here()", {("a", True), ("()(b)", True)}, id="both parts"),
    pytest.param("if a or b:\n    here()", set(), id="one of two"),
    pytest.param("if a or b:\n    pass\nelse:\n    here()", {("a", False), ("b", False)}, id="neither of two"),
    pytest.param("if a != 1:\n    here()", {("==(a, 1)", False)}, id="unequal is not equal"),
    pytest.param("if a is not None:\n    here()", {("is(a, None)", False)}, id="something is not nothing"),
    pytest.param("if a[0]:\n    here()", set(), id="what can't be compared"),
]
PAIRS = [
    pytest.param("if a:\n    here()\nif not a:\n    here()", True, id="a test and its negation"),
    pytest.param("if a == 1:\n    here()\nif a != 1:\n    here()", True, id="equal and unequal"),
    pytest.param("if a:\n    here()\nif b:\n    here()", False, id="two tests"),
    pytest.param("if a and b:\n    here()\nif not a and c:\n    here()", True, id="parts of tests"),
]
SETTLED = [
    pytest.param("if a and b:\n    pass\nelif not a:\n    here()", True, id="one part is known not to hold"),
    pytest.param("if a and b:\n    pass\nelif c:\n    here()", False, id="no part is known"),
    pytest.param("if a:\n    pass\nelif not a:\n    here()", False, id="a test without parts"),
]


def places(code: str) -> list[Name]:
    script = parse(SourceFile.from_bytes(f"{code}\n".encode(), "train.py"))
    return [name for name in script.names if name.id == "here"]


@pytest.mark.parametrize(("code", "known"), KNOWN)
def test_the_facts_of_a_place(code: str, known: set[tuple[str, bool]]) -> None:
    [here] = places(code)
    assert facts(here.region.chain()) == known


@pytest.mark.parametrize(("code", "contradictory"), PAIRS)
def test_places_that_no_run_comes_to_both_of(code: str, contradictory: bool) -> None:
    [one, other] = places(code)
    assert are_contradictory(facts(one.region.chain()), facts(other.region.chain())) is contradictory


@pytest.mark.parametrize(("code", "settled"), SETTLED)
def test_tests_that_one_part_decides(code: str, settled: bool) -> None:
    [here] = places(code)
    inner, outer = [region for region in here.region.chain() if region.test is not None]
    assert is_settled(outer, facts([inner])) is settled
