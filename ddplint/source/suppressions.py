"""Comments that switch rules off: ``# ddplint: ignore[...]``, ``# ddplint: ignore-file[...]`` and ``# noqa``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ddplint.source.position import Position
from ddplint.source.scan import comments
from ddplint.source.text import SourceFile

Kind = Literal["ignore", "ignore-file", "noqa", "malformed"]

_MENTION = re.compile(r"ddplint:|noqa", re.IGNORECASE)
# One comment may speak to several tools, each behind a hash sign of its own.
_NEXT_PART = re.compile(r"(?<=\s)#+(?=[ \t]*[A-Za-z])")
_OURS = re.compile(
    r"#+\s*ddplint:\s*(?P<kind>ignore-file|ignore)(?:\[(?P<codes>[^\[\]]*)\](?P<why>.*)|(?P<reason>\s.*)?)",
    re.IGNORECASE | re.DOTALL,
)
_ANY_OF_OURS = re.compile(r"#+\s*ddplint:", re.IGNORECASE)
_NOQA = re.compile(
    r"#+\s*noqa\b(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+\b(?:[\s,]+[A-Z]+[0-9]+\b)*))?(?P<why>.*)", re.IGNORECASE | re.DOTALL
)
_OUR_CODE = re.compile(r"DDP\d+", re.IGNORECASE)
# "ignore DDP202", without brackets, would switch off everything.
_FORGOTTEN_BRACKETS = re.compile(r"\s*[A-Z]{3}\d{3}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SuppressedCode:
    """One code or name in a comment, and the stretch to cut so that the rest of the comment stays right."""

    text: str
    start: Position
    end: Position
    removal: tuple[Position, Position]


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment, or its part between two hash signs, that speaks to ddplint.

    No ``codes`` means everything. ``removal`` is the stretch to cut so that the line reads as if the comment had
    never been there: the space before it goes too, and the whole line when it holds nothing else. Of a malformed one,
    ``reason`` is the text as it stands.
    """

    line: int
    start: Position
    end: Position
    kind: Kind
    codes: tuple[SuppressedCode, ...]
    reason: str
    removal: tuple[Position, Position]


def find_suppressions(source: SourceFile) -> tuple[Suppression, ...]:
    """Return the suppression comments of a file in order; what stands in a string is no comment.

    Left out are ``# noqa`` comments that name only codes of other tools.
    """
    text = source.text
    if not _MENTION.search(text):
        return ()
    return tuple(
        suppression
        for start, end in comments(text)
        if _MENTION.search(text, start, end)
        for part in _parts(source, start, end)
        if (suppression := part.suppression()) is not None
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A comment from one hash sign to the next, or to its end; offsets in the file's text."""

    source: SourceFile
    start: int
    end: int
    next_start: int | None

    def suppression(self) -> Suppression | None:
        """What the part says to ddplint, if anything."""
        text = self.source.text[self.start : self.end]
        if _ANY_OF_OURS.match(text):
            ours = _OURS.fullmatch(text)
            return self._made("malformed", (), text) if ours is None else self._read_ours(ours, text)
        noqa = _NOQA.match(text)
        return None if noqa is None else self._read_noqa(noqa)

    def _read_ours(self, match: re.Match[str], text: str) -> Suppression:
        kind: Kind = "ignore-file" if match["kind"].lower() == "ignore-file" else "ignore"
        if match["codes"] is None:
            codes: tuple[SuppressedCode, ...] = ()
            wrong = bool(_FORGOTTEN_BRACKETS.match(match["reason"] or ""))
        else:
            codes = self._codes(match, r"[^\s,]+")
            wrong = not codes
        if wrong or (kind == "ignore-file" and not self._is_alone()):
            return self._made("malformed", (), text)
        return self._made(kind, codes, (match["why"] or match["reason"] or "").strip())

    def _read_noqa(self, match: re.Match[str]) -> Suppression | None:
        if match["codes"] is None:
            return self._made("noqa", (), match["why"].strip())
        codes = tuple(code for code in self._codes(match, r"\w+") if _OUR_CODE.fullmatch(code.text))
        return self._made("noqa", codes, match["why"].strip()) if codes else None

    def _made(self, kind: Kind, codes: tuple[SuppressedCode, ...], reason: str) -> Suppression:
        start = self.source.position(self.start)
        return Suppression(start.line, start, self.source.position(self.end), kind, codes, reason, self._removal())

    def _codes(self, match: re.Match[str], code: str) -> tuple[SuppressedCode, ...]:
        """All codes in the match's list, each with what to cut: its separator too, or all when it is the only one."""
        first, last = (self.start + offset for offset in match.span("codes"))
        spans = [found.span() for found in re.compile(code).finditer(self.source.text, first, last)]
        position = self.source.position
        codes = []
        for number, (start, end) in enumerate(spans):
            if len(spans) == 1:
                removal = self._removal()
            elif number == 0:
                removal = (position(start), position(spans[1][0]))
            else:
                removal = (position(spans[number - 1][1]), position(end))
            codes.append(SuppressedCode(self.source.text[start:end], position(start), position(end), removal))
        return tuple(codes)

    def _is_alone(self) -> bool:
        """Whether the line holds nothing but comments."""
        before = self._before().lstrip()
        return not before or before.startswith("#")

    def _before(self) -> str:
        """What stands on the line before this part."""
        line = self.source.position(self.start).line
        return self.source.text[self.source.line_starts[line - 1] : self.start]

    def _removal(self) -> tuple[Position, Position]:
        position = self.source.position
        if self.next_start is not None:
            return position(self.start), position(self.next_start)
        line = position(self.start).line
        kept = self._before().rstrip()
        if kept:
            content = self.source.line(line)
            return Position(line, len(kept) + 1), Position(line, len(content) + 1)
        if line < len(self.source.line_starts):
            return Position(line, 1), Position(line + 1, 1)
        return Position(line, 1), position(len(self.source.text))


def _parts(source: SourceFile, start: int, end: int) -> Iterator[_Part]:
    starts = [start, *(match.start() for match in _NEXT_PART.finditer(source.text, start + 1, end))]
    for part_start, next_start in zip(starts, [*starts[1:], None], strict=True):
        written = source.text[part_start : end if next_start is None else next_start].rstrip()
        yield _Part(source, part_start, part_start + len(written), next_start)
