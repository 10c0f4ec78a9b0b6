"""Rounds of fixes: what is made, what waits, what is refused and reported."""

from __future__ import annotations

import pytest

from ddplint.findings import Finding, Impact
from ddplint.fixes import MAX_ROUNDS, settle
from ddplint.source import SourceFile
from tests.unit.fixes.toy import Toy, ToyLint, settle_toys

GOOD = Toy("DDP901", r"\bbad\b", "good")
BREAKS = Toy("DDP902", r"\bugly\b", "((")
STAYS = Toy("DDP903", r"\bstubborn\b", "stubborn ")
HANGS = Toy("DDP904", r"\bhang\b", impact=Impact.HANG)
BRINGS_A_HANG = Toy("DDP905", r"\bslow\b", "hang")


def test_every_file_with_a_fix_changes_and_no_other() -> None:
    settled = settle_toys({"a.py": "bad\nbad\n", "b.py": "fine\n", "c.py": "bad\n"}, GOOD)
    assert settled.texts == {"a.py": "good\ngood\n", "c.py": "good\n"}
    assert [(finding.path, finding.place.start) for finding in settled.fixed] == [
        ("a.py", (1, 1)),
        ("a.py", (2, 1)),
        ("c.py", (1, 1)),
    ]
    assert (settled.remaining, settled.defects) == ((), ())


def test_what_is_not_allowed_stays() -> None:
    sources = {"a.py": SourceFile("a.py", "bad\nugly\n")}
    lint = ToyLint((GOOD, BREAKS))
    settled = settle(sources, lint, lambda finding: finding.code == "DDP901")
    assert settled.texts == {"a.py": "good\nugly\n"}
    assert [finding.code for finding in settled.remaining] == ["DDP902"]
    assert settled.defects == ()


def test_a_finding_without_a_fix_remains() -> None:
    settled = settle_toys({"b.py": "hang\n", "a.py": "\nhang\nhang\n"}, HANGS)
    assert [(finding.path, finding.place.start.line) for finding in settled.remaining] == [
        ("a.py", 2),
        ("a.py", 3),
        ("b.py", 1),
    ]
    assert (settled.texts, settled.fixed) == ({}, ())


@pytest.mark.parametrize(
    ("rule", "text", "why"),
    [
        pytest.param(
            BREAKS,
            "ugly\n",
            "a.py would no longer parse: line 1: '(' was never closed",
            id="a fix that breaks the file",
        ),
        pytest.param(STAYS, "stubborn\n", "a.py still has the finding: DDP903", id="a fix that leaves its finding"),
        pytest.param(BRINGS_A_HANG, "slow\n", "a.py:1 has a new finding: DDP904", id="a fix that brings a hang"),
        pytest.param(Toy("DDP906", "odd", "drop"), "odd\n", "a.py could no longer be linted", id="not linted any more"),
        pytest.param(
            Toy("DDP907", "odd", "return"), "odd\n", "'return' outside function", id="not a matter of grammar"
        ),
        pytest.param(
            Toy("DDP908", "odd", "'日'"), "odd\n", "'日' cannot be written in latin-1", id="not to be encoded"
        ),
        pytest.param(
            Toy("DDP909", "odd", "even", elsewhere=("a.py", "dd", "xx")),
            "odd\n",
            "two edits overlap",
            id="overlaps itself",
        ),
    ],
)
def test_a_fix_that_breaks_its_promise_is_reported_and_not_made(rule: Toy, text: str, why: str) -> None:
    settled = settle_toys({"a.py": text, "b.py": "bad\n"}, GOOD, rule, HANGS, encoding="latin-1")
    assert settled.texts == {"b.py": "good\n"}
    (defect,) = settled.defects
    assert (defect.codes, defect.path) == ((rule.code,), "a.py")
    assert why in defect.why
    assert [finding.code for finding in settled.remaining] == [rule.code]


def test_other_fixes_of_the_file_go_on() -> None:
    text = "bad\nugly\nbad\nstubborn\nslow\nbad\n"
    settled = settle_toys({"a.py": text}, GOOD, BREAKS, STAYS, HANGS, BRINGS_A_HANG)
    assert settled.texts == {"a.py": "good\nugly\ngood\nstubborn\nslow\ngood\n"}
    assert sorted(defect.codes for defect in settled.defects) == [("DDP902",), ("DDP903",), ("DDP905",)]


def test_a_fix_may_bring_a_finding_that_is_only_noise() -> None:
    settled = settle_toys({"a.py": "slow\n"}, Toy("DDP905", "slow", "loud"), Toy("DDP906", "loud"))
    assert settled.texts == {"a.py": "loud\n"}
    assert [finding.code for finding in settled.remaining] == ["DDP906"]


def test_a_severe_finding_that_was_there_before_is_not_held_against_a_fix() -> None:
    settled = settle_toys({"a.py": "hang; bad\n"}, GOOD, HANGS)
    assert settled.texts == {"a.py": "hang; good\n"}


def test_a_finding_whose_message_names_a_moved_line_is_not_new() -> None:
    moving = Toy("DDP904", "hang", impact=Impact.HANG, message="line {line} hangs")
    settled = settle_toys({"a.py": "bad\nhang\n"}, Toy("DDP901", "bad", "good", above="import os\n"), moving)
    assert settled.texts == {"a.py": "import os\ngood\nhang\n"}


def test_edits_that_two_fixes_share_are_made_once() -> None:
    importing = Toy("DDP901", "bad", "good", above="import os\n")
    settled = settle_toys({"a.py": "bad\nbad\n"}, importing)
    assert settled.texts == {"a.py": "import os\ngood\ngood\n"}


def test_fixes_that_overlap_are_made_one_after_the_other() -> None:
    settled = settle_toys(
        {"a.py": "bad.ugly\n"}, Toy("DDP901", r"bad\.ugly", "fine.ugly"), Toy("DDP902", "ugly", "good")
    )
    assert settled.texts == {"a.py": "fine.good\n"}
    assert [finding.code for finding in settled.fixed] == ["DDP901", "DDP902"]


def test_fixes_that_are_good_alone_and_bad_together_are_made_one_after_the_other() -> None:
    # Each leaves a block that has a statement, both together leave none: the second has to see what the first did.
    rules = (
        Toy("DDP901", r"    bad\n", ""),
        Toy("DDP902", r"(?<=:\n)    ugly\n", "    pass\n"),
        Toy("DDP903", r"(?<!:\n)    ugly\n", ""),
    )
    settled = settle_toys({"a.py": "if x:\n    bad\n    ugly\n"}, *rules)
    assert settled.texts == {"a.py": "if x:\n    pass\n"}
    assert settled.defects == ()


def test_a_fix_over_two_files_is_made_in_both_or_in_none() -> None:
    over_two = Toy("DDP901", r"\bbad\b", "good", elsewhere=("b.py", "old", "new"))
    assert settle_toys({"a.py": "bad\n", "b.py": "old\n"}, over_two).texts == {"a.py": "good\n", "b.py": "new\n"}
    breaking = Toy("DDP901", r"\bbad\b", "good", elsewhere=("b.py", "old", "(("))
    settled = settle_toys({"a.py": "bad\n", "b.py": "old\n"}, breaking)
    assert settled.texts == {}
    assert settled.defects[0].why.startswith("b.py would no longer parse")


def test_a_finding_that_is_mended_in_another_file_is_gone() -> None:
    class AcrossFiles(ToyLint):
        def __call__(self, sources):  # type: ignore[no-untyped-def]
            found = super().__call__(sources)
            mended = any("mended" in source.text for source in sources.values())
            return {path: [] if mended else findings for path, findings in found.items()}

    sources = {"a.py": SourceFile("a.py", "bad\n"), "b.py": SourceFile("b.py", "old\n")}
    rule = Toy("DDP901", "bad", "bad", elsewhere=("b.py", "old", "mended"))
    settled = settle(sources, AcrossFiles((rule,)), lambda _: True)
    assert settled.texts == {"b.py": "mended\n"}
    assert settled.remaining == ()


def test_a_fix_that_edits_a_file_that_is_not_there_is_left_alone() -> None:
    lint = ToyLint((Toy("DDP901", "bad", "good", elsewhere=("b.py", "old", "new")),))
    both = {"a.py": SourceFile("a.py", "bad\n"), "b.py": SourceFile("b.py", "old\n")}
    findings = lint(both)["a.py"]

    def known(_: object) -> dict[str, list[Finding]]:
        return {"a.py": findings}

    settled = settle({"a.py": both["a.py"]}, known, lambda _: True)
    assert (settled.texts, settled.defects, settled.remaining) == ({}, (), tuple(findings))


def test_rules_that_undo_each_other_end_after_ten_rounds() -> None:
    lint = ToyLint((Toy("DDP901", r"\bleft\b", "right"), Toy("DDP902", r"\bright\b", "left")))
    settled = settle({"a.py": SourceFile("a.py", "left\n")}, lint, lambda _: True)
    assert len(settled.fixed) == MAX_ROUNDS == 10
    assert settled.texts == {}
    assert [finding.code for finding in settled.remaining] == ["DDP901"]


def test_a_file_that_did_not_parse_before_may_be_fixed() -> None:
    settled = settle_toys({"a.py": "x.cuda(async=True)\nprint 'é'\n"}, Toy("DDP810", "async=", "non_blocking="))
    assert settled.texts == {"a.py": "x.cuda(non_blocking=True)\nprint 'é'\n"}


def test_rules_see_the_files_as_they_have_become() -> None:
    lint = ToyLint((Toy("DDP901", r"\bbad\b", "worse"), Toy("DDP902", r"\bworse\b", "good"), Toy("DDP903", "rest")))
    texts = {"a.py": "bad\n", "b.py": "worse\n", "c.py": "rest\n", "d.py": "fine\n"}
    settle({path: SourceFile(path, text) for path, text in texts.items()}, lint, lambda _: True)
    assert lint.calls == [
        texts,
        {"a.py": "worse\n", "b.py": "good\n", "c.py": "rest\n"},
        {"a.py": "good\n", "b.py": "good\n", "c.py": "rest\n"},
    ]


def test_newlines_and_everything_else_stay() -> None:
    text = "\ufefffine\r\n\tbad = '\x0c\u2028'; bad\n\r\n#é\nbad"
    settled = settle_toys({"a.py": "if x:\r\n" + text[6:]}, GOOD)
    assert settled.texts == {"a.py": "if x:\r\n" + text[6:].replace("bad", "good")}
