"""The gate: which rules are asked about a file, told from its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.config import Settings
from ddplint.engine.gate import Gate
from ddplint.engine.per_file import PerFileIgnores
from ddplint.errors import OptionError
from tests.unit.engine.rules import a_rule

RULES = (
    a_rule("DDP000", check_unparsable=lambda _source, _failure: ()),
    a_rule("DDP001", "noqa", check_suppressions=lambda _report: ()),
    a_rule("DDP101", "DataParallel"),
    a_rule("DDP202", "DistributedSampler", "set_epoch"),
    a_rule("DDP601", "print", everyday=True),
    a_rule("DDP900"),
)
ALL = frozenset(rule.rule.code for rule in RULES)


def gate(distributed: bool = False, settings: Settings | None = None) -> Gate:
    return Gate(RULES, PerFileIgnores(settings or Settings(), RULES), lambda _path, _data: distributed)


@pytest.mark.parametrize(
    ("data", "distributed", "awake"),
    [
        pytest.param(b"x = 1", False, "DDP900", id="a rule without triggers is always awake"),
        pytest.param(b"nn.DataParallel(m)", False, "DDP101 DDP900", id="a word wakes its rule"),
        pytest.param(b"s.set_epoch(e)", False, "DDP202 DDP900", id="any of several words does"),
        pytest.param(b"dataparallel", False, "DDP900", id="words are case-sensitive"),
        pytest.param(b"print(x)", False, "DDP900", id="an everyday word means nothing by itself"),
        pytest.param(b"print(x)", True, "DDP601 DDP900", id="an everyday word counts in a distributed program"),
        pytest.param(b"x = 1  # noqa", False, "DDP001 DDP900", id="a comment wakes the rules about comments"),
        pytest.param(b"\xff\xfe\0DataParallel", False, "DDP101 DDP900", id="bytes need not be text"),
    ],
)
def test_words_wake_rules(data: bytes, distributed: bool, awake: str) -> None:
    assignment = gate(distributed).assign(Path("train.py"), "train.py", data)
    assert assignment.awake == frozenset(awake.split())
    assert assignment.selected == ALL
    assert assignment.data == data


def test_the_program_is_searched_only_for_a_word_that_wakes() -> None:
    def searched(_path: Path, _data: bytes) -> bool:
        raise AssertionError("the search is dear")

    silent = Gate(RULES, PerFileIgnores(Settings(), RULES), searched)
    assert silent.assign(Path("a.py"), "a.py", b"nn.DataParallel(m)").awake == {"DDP101", "DDP900"}
    with pytest.raises(AssertionError, match="dear"):
        silent.assign(Path("a.py"), "a.py", b"print(1)")


@pytest.mark.parametrize(
    ("pattern", "selectors", "path", "off"),
    [
        pytest.param("*.py", ("DDP101",), "sub/train.py", "DDP101", id="a name in any folder"),
        pytest.param("scripts/", ("DDP1", "rule-202"), "scripts/a/train.py", "DDP101 DDP202", id="a whole folder"),
        pytest.param("/train.py", ("ALL",), "sub/train.py", "", id="only at the root"),
        pytest.param("scripts/*.py", ("ALL",), "other/train.py", "", id="another folder"),
        pytest.param("*.py", ("ALL",), "/elsewhere/train.py", "", id="a file outside the project"),
    ],
)
def test_rules_that_are_off_for_some_files(
    tmp_path: Path, pattern: str, selectors: tuple[str, ...], path: str, off: str
) -> None:
    settings = Settings(per_file_ignores=((pattern, selectors),), root=tmp_path)
    data = b"DataParallel DistributedSampler"
    assignment = gate(settings=settings).assign(tmp_path / path, path, data)
    assert assignment.selected == ALL - frozenset(off.split())
    assert assignment.awake == {"DDP101", "DDP202", "DDP900"} - frozenset(off.split())


def test_a_selector_that_covers_nothing_is_refused() -> None:
    settings = Settings(per_file_ignores=(("*.py", ("DDP7",)),))
    with pytest.raises(OptionError, match="per-file-ignores: no rule 'DDP7'"):
        PerFileIgnores(settings, RULES)
