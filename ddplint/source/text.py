"""A file as text, and back to the very bytes it was."""

from __future__ import annotations

import codecs
import os
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from ddplint.errors import SourceError
from ddplint.source.position import Position

_LONE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
# PEP 263: on the first line, or on the second when the first is blank or a comment.
_CODING_LINE = re.compile(rb"(?:[ \t\f]*(?:#.*)?\r?\n)??[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Editors append "-unix" and the like to these; the group's name is the codec.
_COMMON_ENCODING = re.compile(r"(?:(?P<utf8>utf-8)|(?P<latin1>latin-1|iso-8859-1|iso-latin-1))(?:-.*)?")


# No slots: the line starts are computed once, when somebody asks, and kept in the instance's dictionary.
@dataclass(frozen=True)
class SourceFile:
    """The text of one file, without its byte order mark and with its newlines as they are.

    ``path`` is the path as people see it, ``encoding`` a codec's name without the byte order mark, which ``bom``
    stands for. Offsets count code points from 0. Lines end at ``\\n`` or ``\\r\\n`` and nowhere else: form feeds and
    U+2028 end no line in Python.
    """

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> SourceFile:
        """Decode a file as Python does: byte order mark, then coding line, then UTF-8.

        Raises SourceError for bytes that are no Python text, or whose text cannot be turned back into them.
        """
        if b"\0" in data:
            raise SourceError(f"line {_line_of(data, data.index(0))}: NUL byte")
        bom = data.startswith(codecs.BOM_UTF8)
        body = data.removeprefix(codecs.BOM_UTF8)
        encoding = _declared_encoding(body, bom)
        source = cls(path, _decoded(body, encoding), encoding, bom)
        lone = _LONE_CARRIAGE_RETURN.search(source.text)
        if lone is not None:
            raise SourceError(f"line {source.position(lone.start()).line}: a carriage return ends a line by itself")
        if source.encode(source.text) != data:
            raise SourceError(f"its {encoding} text does not encode to the same bytes again")
        return source

    def encode(self, text: str) -> bytes:
        """Return the bytes of this file with another text; raises SourceError for what its encoding cannot say."""
        try:
            body = text.encode(self.encoding)
        except UnicodeError as error:
            raise SourceError(f"{_letter(error)} cannot be written in {self.encoding}") from None
        return codecs.BOM_UTF8 + body if self.bom else body

    @cached_property
    def newline(self) -> str:
        """The newline that most lines end with."""
        windows = self.text.count("\r\n")
        return "\r\n" if 2 * windows > self.text.count("\n") else "\n"

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset at which each line starts; after a final newline starts one more, empty line."""
        lines = self.text.split("\n")[:-1]
        return tuple(accumulate((len(line) + 1 for line in lines), initial=0))

    def position(self, offset: int) -> Position:
        """Return the position of an offset; raises ValueError for one outside the text."""
        if not 0 <= offset <= len(self.text):
            raise ValueError(f"offset {offset} is outside {self.path}")
        line = bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def offset(self, position: Position) -> int:
        """Return the offset of a position; raises ValueError for one outside the text."""
        start, end = self._line_bounds(position.line)
        offset = start + position.column - 1
        if not start <= offset <= min(end, len(self.text)):
            raise ValueError(f"column {position.column} is outside line {position.line} of {self.path}")
        return offset

    def line(self, number: int) -> str:
        """Return a line, counted from 1, without its newline; raises ValueError for one outside the text."""
        start, end = self._line_bounds(number)
        line = self.text[start : end + 1]
        return line[:-1].removesuffix("\r") if line.endswith("\n") else line

    def _line_bounds(self, number: int) -> tuple[int, int]:
        """The offsets of a line's first and last character; of the last line, the second is the end of the text."""
        if not 1 <= number <= len(self.line_starts):
            raise ValueError(f"{self.path} has no line {number}")
        last = number == len(self.line_starts)
        return self.line_starts[number - 1], len(self.text) if last else self.line_starts[number] - 1


def read_source(path: Path, shown: str) -> SourceFile:
    """Read and decode a file; raises SourceError when it cannot be read or decoded."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from None
    return SourceFile.from_bytes(data, shown)


def shown_path(path: Path, cwd: Path) -> str:
    """Return a path as people see it: with ``/``, relative to ``cwd`` when it lies below, else absolute."""
    absolute = cwd / path
    if os.pardir in path.parts:
        # "link/.." is not the folder of the link: only the file system knows what it is.
        absolute, cwd = absolute.parent.resolve() / absolute.name, cwd.resolve()
    return (absolute.relative_to(cwd) if absolute.is_relative_to(cwd) else absolute).as_posix()


def _declared_encoding(body: bytes, bom: bool) -> str:
    """The codec that the file names, as Python reads it."""
    declared = _CODING_LINE.match(body)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    common = _COMMON_ENCODING.fullmatch(name.lower().replace("_", "-"))
    try:
        encoding = codecs.lookup(name if common is None else common.lastgroup or name).name
    except LookupError:
        raise SourceError(f"unknown encoding: {name}") from None
    if bom and encoding != "utf-8":
        raise SourceError(f"starts with a UTF-8 byte order mark and declares {name}")
    return encoding


def _decoded(body: bytes, encoding: str) -> str:
    try:
        text = body.decode(encoding)
        # Some codecs can say lone surrogates, which are no text and which no parser takes.
        text.encode("utf-8")
    except UnicodeDecodeError as error:
        wrong = f"{error.object[error.start]:#04x} is not {encoding}"
        raise SourceError(f"line {_line_of(body, error.start)}: {wrong}") from None
    except (UnicodeError, LookupError) as error:
        raise SourceError(f"cannot be decoded: {error}") from None
    return text


def _line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _letter(error: UnicodeError) -> str:
    return repr(error.object[error.start]) if isinstance(error, UnicodeEncodeError) else "the text"
