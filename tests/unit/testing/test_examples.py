from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ddplint.testing import applicability_problems, example_trials
from tests.unit.testing.packs import BAD, FIXED, GOOD, pack_of


def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *examples: str, **options: Any) -> list[str]:
    pack, rule = pack_of(tmp_path, monkeypatch, *examples, **options)
    trials = example_trials(rule, pack)
    return [problem for trial in trials for problem in trial.problems()] + applicability_problems(rule, trials)


@pytest.mark.parametrize(
    ("examples", "options"),
    [
        pytest.param((BAD, FIXED, GOOD), {}, id="a rule that does what it shows"),
        pytest.param((BAD, GOOD), {"promise": None, "made": None}, id="a rule without a fix"),
        pytest.param((BAD, FIXED, GOOD), {"promise": "UNSAFE", "made": "UNSAFE"}, id="a rule with an unsafe fix"),
        pytest.param(
            ("```python bad\nbad(bad(2))  #~ DDP901 DDP901\n```\n", "```python fixed\ngood(good(2))\n```\n", GOOD),
            {},
            id="two findings on a line",
        ),
        pytest.param((BAD, FIXED, GOOD, BAD), {}, id="a further bad example whose fixed form is not shown"),
    ],
)
def test_examples_that_come_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: tuple[str, ...], options: dict[str, Any]
) -> None:
    assert problems(tmp_path, monkeypatch, *examples, **options) == []


@pytest.mark.parametrize(
    ("examples", "options", "expected"),
    [
        pytest.param(
            (
                "```python bad\nbad(1)  #~ DDP901\nok()  #~ DDP901\n```\n",
                FIXED.replace("\n```\n", "\nok()\n```\n"),
                GOOD,
            ),
            {},
            ["example.py:2: DDP901 is announced and not said"],
            id="a marked line that does not fire",
        ),
        pytest.param(
            ("```python bad\nbad(1)  #~ DDP901\nbad(2)\n```\n", FIXED.replace("\n```\n", "\ngood(2)\n```\n"), GOOD),
            {},
            ["example.py:2: DDP901 is said and not announced: bad is called"],
            id="a line that fires without a mark",
        ),
        pytest.param(
            (BAD, FIXED, "```python good\nbad(1)\n```\n"),
            {},
            ["example.py:1: DDP901 is said and not announced: bad is called"],
            id="a good example that fires",
        ),
        pytest.param(
            (BAD.replace("DDP901", "DDP901 DDP902"), FIXED, GOOD),
            {},
            [
                "example.py:1: DDP902 belongs to another rule",
                "example.py:1: DDP902 is announced and not said",
            ],
            id="a mark of another rule",
        ),
        pytest.param(
            (BAD, FIXED.replace("good(1)", "good( 1)"), GOOD),
            {},
            [
                "example.py: the fix makes another text\n"
                "--- announced\n+++ made by the fix\n@@ -1 +1 @@\n-good( 1)\n+good(1)\n"
            ],
            id="a fixed form that differs by a space",
        ),
        pytest.param(
            (BAD, FIXED, GOOD),
            {"promise": "UNSAFE"},
            [
                "example.py:1: DDP901 has a safe fix, and its rule announces unsafe ones",
                "DDP901 announces unsafe fixes, its examples show safe fixes",
            ],
            id="a safe fix where unsafe ones are announced",
        ),
        pytest.param(
            (BAD, FIXED, GOOD),
            {"made": "UNSAFE"},
            ["DDP901 announces safe fixes, its examples show unsafe fixes"],
            id="an unsafe fix where safe ones are announced",
        ),
        pytest.param((BAD, GOOD), {}, ["DDP901 shows no fixed example"], id="a fix that is not shown"),
        pytest.param(
            (BAD, FIXED, GOOD),
            {"promise": None, "made": None},
            ["example.py: no fix changes it", "DDP901 shows a fixed example and has no fix"],
            id="a fix that is shown and does not exist",
        ),
    ],
)
def test_examples_that_do_not_come_true(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    examples: tuple[str, ...],
    options: dict[str, Any],
    expected: list[str],
) -> None:
    assert problems(tmp_path, monkeypatch, *examples, **options) == expected


def test_a_fix_that_breaks_the_text_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = problems(tmp_path, monkeypatch, BAD, FIXED, GOOD, into="(")
    assert any(problem.startswith("example.py: DDP901:") for problem in said)
    assert "example.py: no fix changes it" in said
