"""Bytes come back as they were, places and offsets are each other's inverse, spans cut what Python sees."""

from __future__ import annotations

import ast
import io
import random
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ddplint.errors import SourceError
from ddplint.source import Position, SourceFile, find_suppressions, read_source, refusal
from ddplint.source.scan import comments
from ddplint.source.spans import Spans

BOM = b"\xef\xbb\xbf"
LINES = st.lists(
    st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["a\x0cb", "é\u2028\x85", "x = '😀'  # c", "\ufeff", "\t"]),
    max_size=6,
)


# A busy machine breaks no law.
law = settings(deadline=None, max_examples=50)


def texts(letters: st.SearchStrategy[list[str]]) -> st.SearchStrategy[str]:
    """Texts of lines that end in either newline, the last one perhaps in none."""
    newlines = st.lists(st.sampled_from(["\n", "\r\n"]), min_size=6, max_size=6)
    return st.builds(
        lambda lines, ends, final: "".join(map(str.__add__, lines, ends)) + final,
        letters,
        newlines,
        st.sampled_from(["", "end"]),
    )


@law
@given(texts(LINES), st.booleans())
def test_utf8_comes_back_as_it_was(text: str, marked: bool) -> None:
    data = BOM * marked + text.encode()

    source = SourceFile.from_bytes(data, "x.py")

    assert (source.encode(source.text), source.bom) == (data, data.startswith(BOM))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "gbk"])
@law
@given(data=st.data())
def test_other_encodings_come_back_as_they_were(encoding: str, data: st.DataObject) -> None:
    letters = st.text(st.characters(codec=encoding, exclude_characters="\r\n\0"), max_size=8)
    text = f"# coding: {encoding}\n" + data.draw(texts(st.lists(letters, max_size=6)))
    raw = text.encode(encoding)

    source = SourceFile.from_bytes(raw, "x.py")

    assert source.encode(source.text) == raw


@law
@given(st.binary())
@example(b"# coding: utf-7\n+AGE-")
@example(b"# coding: unicode_escape\n\\x41")
@example(b"\xff\xfea\0")
def test_bytes_of_any_kind_come_back_or_are_refused(data: bytes) -> None:
    outcome: bytes | str
    try:
        source = SourceFile.from_bytes(data, "x.py")
        outcome = source.encode(source.text)
    except SourceError as error:
        outcome = str(error)

    assert outcome == data or (isinstance(outcome, str) and "\n" not in outcome)


@law
@given(texts(LINES))
def test_positions_and_offsets_are_each_others_inverse(text: str) -> None:
    source = SourceFile("x.py", text)
    positions = [source.position(offset) for offset in range(len(text) + 1)]

    assert [source.offset(position) for position in positions] == list(range(len(text) + 1))
    assert positions == sorted(set(positions))
    assert positions[0] == Position(1, 1)


@law
@given(texts(LINES))
def test_lines_are_the_text_without_its_newlines(text: str) -> None:
    source = SourceFile("x.py", text)

    lines = [source.line(number) for number in range(1, len(source.line_starts) + 1)]

    assert lines == text.replace("\r\n", "\n").split("\n")


@law
@given(texts(LINES), texts(LINES))
def test_a_comment_behind_any_code_is_found_and_cut_without_a_trace(before: str, after: str) -> None:
    before = before.replace('"', "").replace("'", "")
    text = f"{before}\nx  # ddplint: ignore[DDP202]\n{after}"
    source = SourceFile("x.py", text)
    line = before.count("\n") + 2

    [found] = [suppression for suppression in find_suppressions(source) if suppression.line == line]
    start, end = (source.offset(position) for position in found.removal)

    assert text[:start] + text[end:] == f"{before}\nx\n{after}"


def real_files() -> list[Path]:
    """Some files of the standard library, the same ones in every run."""
    library = Path(sysconfig.get_paths()["stdlib"])
    # Those for tests hold broken code on purpose, the topics are one enormous dictionary.
    left_out = {"site-packages", "test", "tests", "lib2to3", "idlelib", "pydoc_data"}
    paths = sorted(path for path in library.rglob("*.py") if left_out.isdisjoint(path.parts))
    return random.Random(2).sample(paths, 20)


each_real_file = pytest.mark.parametrize("path", real_files(), ids=lambda path: "/".join(path.parts[-2:]))


@each_real_file
def test_on_real_files_spans_cut_what_python_sees(path: Path) -> None:
    source = read_source(path, path.name)
    text = source.text
    module = cst.parse_module(text)
    spans = Spans(module, text)
    nodes = list(every_node(module))
    names = [node for node in nodes if isinstance(node, cst.Name)]
    statements = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
    tree = ast.parse(text)

    assert [text[slice(*spans.of(name))] for name in names] == [name.value for name in names]
    assert {spans.of(name) for name in names} >= seen(source, tree, ast.Name)
    assert {spans.of(node) for node in nodes if isinstance(node, cst.Call)} == seen(source, tree, ast.Call)
    assert {spans.of(node) for node in nodes if isinstance(node, statements)} == seen(source, tree, ast.stmt)
    for node in nodes:
        (start, end), (whole_start, whole_end) = spans.of(node), spans.whole(node)
        assert 0 <= whole_start <= start <= end <= whole_end <= len(text)


@each_real_file
def test_real_files_are_neither_refused_nor_changed(path: Path) -> None:
    data = path.read_bytes()
    source = SourceFile.from_bytes(data, path.name)

    assert refusal(data) is None
    assert source.encode(source.text) == data


@each_real_file
def test_on_real_files_comments_are_where_python_sees_them(path: Path) -> None:
    source = read_source(path, path.name)
    tokens = tokenize.generate_tokens(io.StringIO(source.text, newline="").readline)
    expected = [(token.start, token.end) for token in tokens if token.type == tokenize.COMMENT]

    found = [tuple(source.position(offset) for offset in span) for span in comments(source.text)]

    assert [tuple((line, column - 1) for line, column in span) for span in found] == expected


def every_node(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from every_node(child)


def seen(source: SourceFile, tree: ast.AST, kind: type[ast.Name | ast.Call | ast.stmt]) -> set[tuple[int, int]]:
    """The offsets of all nodes of a kind, as Python's own parser has them: its columns count bytes of UTF-8."""
    lines = source.text.encode().split(b"\n")

    def offset(line: int | None, column: int | None) -> int:
        assert line is not None
        return source.line_starts[line - 1] + len(lines[line - 1][:column].decode())

    return {
        (offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset))
        for node in ast.walk(tree)
        if isinstance(node, kind)
    }
