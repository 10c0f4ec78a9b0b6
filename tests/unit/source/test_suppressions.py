from __future__ import annotations

import pytest

from ddplint.source import Position, SourceFile, Suppression, find_suppressions


def suppressions(text: str) -> tuple[Suppression, ...]:
    return find_suppressions(SourceFile("x.py", text))


def only(text: str) -> Suppression:
    found = suppressions(text)
    assert len(found) == 1, found
    return found[0]


def without(text: str, stretch: tuple[Position, Position]) -> str:
    source = SourceFile("x.py", text)
    return text[: source.offset(stretch[0])] + text[source.offset(stretch[1]) :]


@pytest.mark.parametrize(
    ("comment", "kind", "codes", "reason"),
    [
        pytest.param("# ddplint: ignore[DDP202]", "ignore", ["DDP202"], "", id="one code"),
        pytest.param("# ddplint: ignore[DDP202, missing-set-epoch]", "ignore", ["DDP202", "missing-set-epoch"], ""),
        pytest.param("#ddplint:ignore[ DDP202 ,DDP301, ]", "ignore", ["DDP202", "DDP301"], "", id="spaces are free"),
        pytest.param("# DDPlint: Ignore[DDP202]", "ignore", ["DDP202"], "", id="case is free"),
        pytest.param("# ddplint: ignore[DDP202] one epoch, see #12", "ignore", ["DDP202"], "one epoch, see #12"),
        pytest.param("# ddplint: ignore", "ignore", [], "", id="no code is everything"),
        pytest.param("# ddplint: ignore  it is a test", "ignore", [], "it is a test", id="everything, with a reason"),
        pytest.param("# ddplint: ignore-file[DDP601] prints", "ignore-file", ["DDP601"], "prints", id="the file"),
        pytest.param("# ddplint: ignore-file", "ignore-file", [], "", id="everything in the file"),
        pytest.param("# generated  # ddplint: ignore-file", "ignore-file", [], "", id="the file, in another comment"),
        pytest.param("# noqa", "noqa", [], "", id="a bare noqa is everything"),
        pytest.param("#NoQA", "noqa", [], "", id="noqa in any case"),
        pytest.param("# noqa: it prints", "noqa", [], ": it prints", id="a noqa with words alone is bare"),
        pytest.param("# noqa: DDP202,E501", "noqa", ["DDP202"], "", id="codes of other tools are left out"),
        pytest.param("# noqa:E501 ddp202  DDP301", "noqa", ["ddp202", "DDP301"], "", id="spaces part codes"),
        pytest.param("# noqa : DDP202 one epoch", "noqa", ["DDP202"], "one epoch", id="a noqa with a reason"),
        pytest.param("# type: ignore  # noqa: DDP202  # pragma: no cover", "noqa", ["DDP202"], "", id="among others"),
    ],
)
def test_comments_that_switch_rules_off(comment: str, kind: str, codes: list[str], reason: str) -> None:
    found = only(f"# 1\n{comment}\n")

    assert (found.line, found.kind, [code.text for code in found.codes], found.reason) == (2, kind, codes, reason)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = 1\n", id="no comment"),
        pytest.param("x  # noqa: E501, W291\n", id="other tools alone"),
        pytest.param("x  # flake8: noqa\n", id="another tool's comment for the file"),
        pytest.param("x  # noqas and noqaX\n", id="other words"),
        pytest.param("x  # write `# ddplint: ignore[DDP202]` here\n", id="quoted in a comment"),
        pytest.param("'# noqa'\n", id="in a string"),
        pytest.param("'a\\'# noqa'\n", id="behind an escaped quote"),
        pytest.param("'''\n# ddplint: ignore\n'''\n", id="in a string of several lines"),
        pytest.param('"""\n\'\'\'\n# noqa\n"""\n', id="behind other quotes in a string"),
        pytest.param("x = 'a\\\r\n# noqa'\n", id="in a string that is continued on Windows"),
        pytest.param("f'{x}# noqa'\n", id="in an f-string"),
    ],
)
def test_what_switches_nothing_off(text: str) -> None:
    assert suppressions(text) == ()


@pytest.mark.parametrize(
    "comment",
    [
        pytest.param("# ddplint: ignore[", id="a bracket that never closes"),
        pytest.param("# ddplint: ignore[]", id="brackets around nothing"),
        pytest.param("# ddplint: ignore[DDP202[0]]", id="brackets in brackets"),
        pytest.param("# ddplint: ignroe[DDP202]", id="a typo"),
        pytest.param("# ddplint: ignore-files[DDP202]", id="a longer word"),
        pytest.param("# ddplint: ignore: DDP202", id="a colon for brackets"),
        pytest.param("# ddplint: ignore DDP202", id="no brackets, which would be everything"),
        pytest.param("# ddplint:", id="nothing at all"),
    ],
)
def test_comments_that_mean_to_switch_rules_off_and_do_not(comment: str) -> None:
    found = only(f"{comment}\n")

    assert (found.kind, found.codes, found.reason) == ("malformed", (), comment)


def test_a_comment_for_the_file_stands_on_a_line_of_its_own() -> None:
    assert only("import os\nif os:\n    # ddplint: ignore-file\n    pass\n").kind == "ignore-file"
    assert only("import os  # ddplint: ignore-file\n").kind == "malformed"


def test_the_place_is_the_part_that_speaks_to_us() -> None:
    text = "é = f('#')  # type: x  # ddplint: ignore[DDP202, a-name]  why   # noqa\r\n"
    ours, noqa = suppressions(text)

    assert (ours.start, ours.end, noqa.start, noqa.end) == ((1, 24), (1, 62), (1, 65), (1, 71))
    assert [(code.start, code.end) for code in ours.codes] == [((1, 42), (1, 48)), ((1, 50), (1, 56))]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("x  # noqa\ny\n", "x\ny\n", id="the space before it goes too"),
        pytest.param("x  # noqa  \r\n", "x\r\n", id="and what follows it"),
        pytest.param("  # noqa\nx\n", "x\n", id="and a line that holds nothing else"),
        pytest.param("x\n# noqa", "x\n", id="also the last"),
        pytest.param("x\n# noqa\n", "x\n", id="also with a final newline"),
        pytest.param("x  # noqa  # type: y\n", "x  # type: y\n", id="what follows moves up"),
        pytest.param("x  # type: y  # noqa\n", "x  # type: y\n", id="what stands before stays"),
        pytest.param("# type: y  # noqa\n", "# type: y\n", id="also without code"),
        pytest.param("x  # ddplint: ignore  why\n", "x\n", id="a reason goes with it"),
    ],
)
def test_cutting_a_comment_leaves_a_line_without_it(text: str, kept: str) -> None:
    assert without(text, only(text).removal) == kept


@pytest.mark.parametrize(
    ("text", "number", "kept"),
    [
        pytest.param("x  # noqa: DDP1\n", 0, "x\n", id="the only code takes the comment with it"),
        pytest.param("x  # noqa: DDP1,E5\n", 0, "x  # noqa: E5\n", id="the first"),
        pytest.param("x  # noqa: E5,DDP1\n", 0, "x  # noqa: E5\n", id="the last"),
        pytest.param("x  # noqa: E5 DDP1 W1\n", 0, "x  # noqa: E5 W1\n", id="between two of other tools"),
        pytest.param("x  # ddplint: ignore[a, b , c] why\n", 1, "x  # ddplint: ignore[a , c] why\n", id="in brackets"),
        pytest.param("x  # ddplint: ignore[a, b,]\n", 1, "x  # ddplint: ignore[a,]\n", id="before a final comma"),
    ],
)
def test_cutting_a_code_leaves_the_others(text: str, number: int, kept: str) -> None:
    assert without(text, only(text).codes[number].removal) == kept
