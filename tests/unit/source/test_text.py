from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.errors import SourceError
from ddplint.source import Position, SourceFile, read_source, shown_path

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        pytest.param(b"", "", "utf-8", id="an empty file is UTF-8"),
        pytest.param("é = 1\n".encode(), "é = 1\n", "utf-8", id="without a coding line it is UTF-8"),
        pytest.param(BOM + b"x = 1\n", "x = 1\n", "utf-8", id="the byte order mark is no text"),
        pytest.param(BOM + b"# coding: UTF8\n", "# coding: UTF8\n", "utf-8", id="a byte order mark and UTF-8 agree"),
        pytest.param(b"# coding: utf_8_sig\n", "# coding: utf_8_sig\n", "utf-8", id="utf-8-sig is UTF-8"),
        pytest.param(b"# coding: latin-1\n\xe9", "# coding: latin-1\né", "iso8859-1", id="a coding line counts"),
        pytest.param(b"# coding: latin-1 \xe9", "# coding: latin-1 é", "iso8859-1", id="also for its own line"),
        pytest.param(
            b"#!/x\n# vim: set fileencoding=cp1252\n\x80",
            "#!/x\n# vim: set fileencoding=cp1252\n€",
            "cp1252",
            id="below a shebang",
        ),
        pytest.param(b"\r\n# coding: cp1252\r\n\x80", "\r\n# coding: cp1252\r\n€", "cp1252", id="below a blank line"),
        pytest.param(b"x\n# coding: nonsense\n", "x\n# coding: nonsense\n", "utf-8", id="below code it is a comment"),
        pytest.param(b"\n\n# coding: nonsense\n", "\n\n# coding: nonsense\n", "utf-8", id="on line 3 it is a comment"),
        pytest.param(
            b"# -*- coding: utf-8-unix -*-\n", "# -*- coding: utf-8-unix -*-\n", "utf-8", id="as Emacs writes"
        ),
        pytest.param(
            b"# coding: iso-latin-1-dos\n\xe9", "# coding: iso-latin-1-dos\né", "iso8859-1", id="as Emacs did"
        ),
        pytest.param(b"a\x0cb\n", "a\x0cb\n", "utf-8", id="form feeds stay"),
    ],
)
def test_bytes_become_text_and_the_same_bytes_again(data: bytes, text: str, encoding: str) -> None:
    source = SourceFile.from_bytes(data, "x.py")

    assert (source.text, source.encoding, source.bom) == (text, encoding, data.startswith(BOM))
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"x\n\xff", "line 2: 0xff is not utf-8", id="bytes that are no UTF-8"),
        pytest.param(b"# coding: cp1252\n\x81", "line 2: 0x81 is not cp1252", id="bytes that the coding does not have"),
        pytest.param(b"# coding: nonsense\n", "unknown encoding: nonsense", id="a coding that does not exist"),
        pytest.param(BOM + b"# coding: latin-1\n", "byte order mark and declares latin-1", id="two codings"),
        pytest.param(b"# coding: rot13\n", "cannot be decoded: 'rot-13' is not a text encoding", id="not for text"),
        pytest.param(b"# coding: undefined\n", "cannot be decoded", id="a codec that always fails"),
        pytest.param(b"# coding: utf-7\n+2AA-", "surrogates not allowed", id="a lone surrogate is no text"),
        pytest.param(b"# coding: utf-7\n+AGE-", "does not encode to the same bytes", id="two spellings of one letter"),
        pytest.param(b"a\nb\0", "line 2: NUL byte", id="a NUL byte"),
        pytest.param(b"a\r\nb\rc", "line 2: a carriage return ends a line by itself", id="a newline of old Macs"),
        pytest.param(b"a\r", "line 1: a carriage return ends a line by itself", id="also at the end"),
    ],
)
def test_what_is_no_python_text_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as refused:
        SourceFile.from_bytes(data, "x.py")

    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_new_text_keeps_mark_and_encoding() -> None:
    marked = SourceFile.from_bytes(BOM + b"a\n", "x.py")
    latin = SourceFile.from_bytes(b"# coding: latin-1\n", "x.py")

    assert marked.encode("é\n") == BOM + "é\n".encode()
    assert latin.encode("é") == b"\xe9"
    with pytest.raises(SourceError, match="'€' cannot be written in iso8859-1"):
        latin.encode("a €")


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        pytest.param("", "\n", id="no line at all"),
        pytest.param("a\nb\n", "\n", id="Unix"),
        pytest.param("a\r\nb\r\n", "\r\n", id="Windows"),
        pytest.param("a\r\nb\r\nc\n", "\r\n", id="the more frequent wins"),
        pytest.param("a\r\nb\n", "\n", id="a tie goes to Unix"),
    ],
)
def test_the_newline_of_a_file(text: str, newline: str) -> None:
    assert SourceFile("x.py", text).newline == newline


def test_only_newlines_end_lines() -> None:
    source = SourceFile("x.py", "a\x0cb\u2028c\x85d\r\ne\n")

    assert [source.line(number) for number in (1, 2, 3)] == ["a\x0cb\u2028c\x85d", "e", ""]
    assert source.line_starts == (0, 9, 11)


def test_a_carriage_return_at_the_end_of_the_last_line_is_text() -> None:
    assert SourceFile("x.py", "a\nb\r").line(2) == "b\r"


def test_positions_count_code_points_from_one() -> None:
    source = SourceFile("x.py", "é😀 = 1\r\nb")

    assert source.position(2) == Position(1, 3)
    assert source.position(len(source.text)) == Position(2, 2)
    assert source.offset(Position(2, 1)) == 8


@pytest.mark.parametrize(
    ("line", "column"),
    [
        pytest.param(0, 1, id="lines start at 1"),
        pytest.param(3, 1, id="below the last line"),
        pytest.param(1, 0, id="columns start at 1"),
        pytest.param(1, 4, id="behind the newline starts the next line"),
        pytest.param(2, 3, id="behind the end of the text"),
    ],
)
def test_positions_outside_the_text_are_errors(line: int, column: int) -> None:
    with pytest.raises(ValueError, match=r"x\.py"):
        SourceFile("x.py", "ab\nc").offset(Position(line, column))


@pytest.mark.parametrize("offset", [-1, 5])
def test_offsets_outside_the_text_are_errors(offset: int) -> None:
    with pytest.raises(ValueError, match=f"offset {offset} is outside"):
        SourceFile("x.py", "ab\nc").position(offset)


def test_lines_outside_the_text_are_errors() -> None:
    with pytest.raises(ValueError, match="no line 3"):
        SourceFile("x.py", "ab\nc").line(3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("missing.py", "cannot be read: No such file", id="a file that is not there"),
        pytest.param(".", "cannot be read: Is a directory", id="a folder"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_source(tmp_path / name, name)


def test_a_file_read_is_known_by_the_path_as_shown(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"a\r\n")

    assert read_source(tmp_path / "x.py", "shown.py") == SourceFile("shown.py", "a\r\n")


def test_paths_are_shown_relative_to_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    cwd = tmp_path / "work"
    (cwd / "link").symlink_to(tmp_path / "elsewhere" / "deep")

    assert shown_path(Path("sub/x.py"), cwd) == "sub/x.py"
    assert shown_path(cwd / "sub" / "x.py", cwd) == "sub/x.py"
    assert shown_path(Path("sub/../x.py"), cwd) == "x.py"
    assert shown_path(Path("../x.py"), cwd) == (tmp_path / "x.py").as_posix()
    assert shown_path(Path("link/x.py"), cwd) == "link/x.py"
    assert shown_path(Path("link/../x.py"), cwd) == (tmp_path / "elsewhere" / "x.py").as_posix()
