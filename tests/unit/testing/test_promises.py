from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.testing import example_trials, import_problems, message_problems, name_problems
from tests.unit.testing.packs import BAD, FIXED, GOOD, pack_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("bad-call", [], id="what is wrong"),
        pytest.param("no-cleanup", [], id="what is missing"),
        pytest.param("use-good", ["use-good starts with the remedy, 'use'"], id="what to do"),
        pytest.param("avoid-bad", ["avoid-bad starts with the remedy, 'avoid'"], id="what to leave"),
    ],
)
def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: list[str]) -> None:
    _, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD, name=name)
    assert name_problems(rule) == expected


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        pytest.param("`bad` is slow; call `good`", None, id="a sentence that ends in code"),
        pytest.param("'(' is slow (and old); call good(1)", None, id="brackets that close, one in quotes"),
        pytest.param("bad is slow. Call good", None, id="two sentences"),
        pytest.param("bad is slow.", "ends oddly", id="a full stop"),
        pytest.param("bad is slow;", "ends oddly", id="a semicolon"),
        pytest.param("bad is slow: ", "not one line of text", id="a space"),
        pytest.param("bad  is slow", "not one line of text", id="two spaces"),
        pytest.param("bad is\\nslow", "not one line of text", id="two lines"),
        pytest.param("", "not one line of text", id="nothing"),
        pytest.param("bad is slow; call `good", "a quote stays open", id="an open quote"),
        pytest.param("bad is slow (call good", "a bracket stays open", id="an open bracket"),
    ],
)
def test_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, problem: str | None) -> None:
    pack, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD, message=message)
    findings = [finding for trial in example_trials(rule, pack) for finding in trial.observed.findings]
    text = message.replace("\\n", "\n")
    assert message_problems(findings) == ([] if problem is None else [f"{problem}: {text!r}"])


def test_a_rule_that_imports_more_than_the_rulekit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD)
    assert import_problems(rule) == []
    path = Path(str(rule.module.__file__))
    path.write_text(
        path.read_text() + "\nimport re\nimport libcst as cst\nfrom ddplint.semantics import Script\nfrom . import x\n"
    )
    assert import_problems(rule) == ["DDP901 imports libcst", "DDP901 imports ddplint.semantics", "DDP901 imports ."]
