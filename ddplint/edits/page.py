"""One file as the primitives see it: its text, the offsets of its nodes, and edits made from both.

Offsets count code points from 0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from ddplint.edits.errors import CannotEdit
from ddplint.findings import Edit
from ddplint.source import SourceFile
from ddplint.source.spans import Spans

# Template strings came with LibCST 1.8.3.
INTERPOLATED = (cst.FormattedString, getattr(cst, "TemplatedString", cst.FormattedString))

_INDENTATION = re.compile(r"[ \t\f]*")
_BARE_NEWLINE = re.compile(r"(?<!\r)\n")
_INTERPOLATED_START = re.compile(r"\b[rR]?[ftFT][rR]?['\"]")
_TRIPLE_INTERPOLATED_START = re.compile(_INTERPOLATED_START.pattern + r"{3}")
# Before Python 3.12 none of these may stand inside the braces of an f-string.
_FORBIDDEN_IN_BRACES = re.compile(r"['\"\\\n#]")
_WHITESPACE_AND_COMMENTS = re.compile(r"(?:[ \t\f\r\n]|\\\r?\n|#[^\n]*)*")
# What may follow a statement on its last line.
_STATEMENT_TAIL = re.compile(r"(?:[ \t\f;]|\\\r?\n)*(?:#[^\r\n]*)?(?:\r?\n|\Z)")
_COMMENT_LINES = re.compile(r"(?:(?:[ \t\f]*\r?\n)*[ \t\f]*#[^\r\n]*(?:\r?\n|\Z))*")


class Page:
    """The text of ``source``, with the offsets of the nodes of ``module``."""

    def __init__(self, source: SourceFile, module: cst.Module, spans: Spans) -> None:
        self.source = source
        self.module = module
        self.spans = spans
        self.text = source.text

    def inner(self, node: cst.CSTNode) -> tuple[int, int]:
        """The offsets of a node's own text: without parentheses of its own, comma, leading lines or newline."""
        return self.spans.of(node)

    def outer(self, node: cst.CSTNode) -> tuple[int, int]:
        """As ``inner``, but with the parentheses that an expression owns."""
        # A starred element is an expression too, but what it renders ends after its comma.
        bare = isinstance(node, cst.BaseElement) or not isinstance(node, cst.BaseExpression)
        return self.spans.of(node) if bare else self.spans.whole(node)

    def cut(self, start: int, end: int) -> str:
        return self.text[start:end]

    def written(self, text: str) -> str:
        """Return text from outside with the newlines of this file."""
        return _BARE_NEWLINE.sub(self.source.newline, text)

    def edit(self, start: int, end: int, content: str) -> Edit:
        """Replace a stretch, keeping words apart; raises CannotEdit where an f-string cannot hold the content."""
        if _FORBIDDEN_IN_BRACES.search(content) and self._is_interpolated(start):
            raise CannotEdit("older Python versions allow no quote, backslash or newline inside an f-string's braces")
        if _are_word(self.text[max(start - 1, 0) : start], content[:1]):
            content = " " + content
        if _are_word(content[-1:], self.text[end : end + 1]):
            content += " "
        return Edit(self.source.path, self.source.position(start), self.source.position(end), content)

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def starts_line(self, offset: int) -> bool:
        """Whether only whitespace stands before the offset, on a line that does not continue another by a backslash."""
        start = self.line_start(offset)
        continued = self.text.endswith("\\", 0, self.before_newline(start))
        return not continued and not self.text[start:offset].strip()

    def indentation(self, offset: int) -> str:
        """The whitespace that starts the line around the offset; a form feed starts it anew."""
        start = self.line_start(offset)
        return self.text[start : _end_of(_INDENTATION, self.text, start)].rpartition("\f")[2]

    def after_trivia(self, offset: int) -> int:
        """Where whitespace, newlines and comments that start at the offset end; inside brackets only."""
        return _end_of(_WHITESPACE_AND_COMMENTS, self.text, offset)

    def statement_start(self, statement: cst.CSTNode) -> int:
        """Where the first token of a statement stands, which may be a decorator's."""
        decorators = getattr(statement, "decorators", ())
        return self.inner(decorators[0] if decorators else statement)[0]

    def statement_end(self, statement: cst.CSTNode) -> int:
        """Where the line after a statement starts; comments that end its block, indented like it, belong to it."""
        tail = _end_of(_STATEMENT_TAIL, self.text, self.inner(statement)[1])
        return _end_of(_COMMENT_LINES, self.text, tail, max(tail, self.spans.whole(statement)[1]))

    def before_newline(self, offset: int) -> int:
        """The offset before the newline that ends right at the offset, if one does."""
        if self.text.endswith("\r\n", 0, offset):
            return offset - 2
        return offset - 1 if self.text.endswith("\n", 0, offset) else offset

    def _is_interpolated(self, offset: int) -> bool:
        """Whether the offset is inside an f-string."""
        line = self.line_start(offset)
        above = self.before_newline(line)
        # The tree is searched only where one may have started: on the line, on one that it continues, or with triple
        # quotes anywhere before.
        started = (
            _INTERPOLATED_START.search(self.text, line, offset)
            or self.text.endswith("\\", 0, above)
            or _TRIPLE_INTERPOLATED_START.search(self.text, 0, offset)
        )
        return bool(started) and any(start < offset < end for start, end in self._interpolated_strings)

    @cached_property
    def _interpolated_strings(self) -> tuple[tuple[int, int], ...]:
        return tuple(self.inner(node) for node in descendants(self.module) if isinstance(node, INTERPOLATED))


def descendants(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every node of a tree, in no order that means anything."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def _end_of(pattern: re.Pattern[str], text: str, start: int, limit: int = sys.maxsize) -> int:
    """Where a pattern that may match nothing ends its match at ``start``."""
    found = pattern.match(text, start, limit)
    return start if found is None else found.end()


def _are_word(left: str, right: str) -> bool:
    """Whether two neighbouring characters would be read as one word."""
    return bool(re.fullmatch(r"\w\w", left + right))
