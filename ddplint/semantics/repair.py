"""Text that today's Python refuses, put right where it is certain what was meant.

A repair keeps the length of every line: offsets in the repaired text are offsets in the file. It only touches forms
that are never valid Python 3, outside strings and comments, and it counts only when the whole file parses afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.semantics.failure import ParseFailure
from ddplint.source.scan import STRING_CHARACTER, without_strings

ASYNC = "async"
# What stands for the argument name `async`, a keyword since Python 3.7, in the repaired text.
_STAND_IN = "asyn_"


@dataclass(frozen=True, slots=True)
class Repair:
    """A text that parses, for one that does not.

    ``failure`` is why, but for arguments named ``async``; None when these are all that was wrong.
    """

    text: str
    failure: ParseFailure | None

    def original(self, name: str) -> str:
        """Return the name that stands in the file for one of the repaired text."""
        return ASYNC if name == _STAND_IN else name


@dataclass(frozen=True, slots=True)
class _Form:
    """A form that Python 3 refuses: where it is, and what its groups become: a text of the same length, or blanks."""

    pattern: re.Pattern[str]
    parts: tuple[str, ...]


# In the text that is searched, a string is a run of this character, and a comment is blank.
_S = STRING_CHARACTER
_STATEMENT = r"(?m)(?:^|[:;])[ \t]*"
_OPERAND = rf"(?=[ \t]+[\w{_S}\[{{~-])(?![ \t]+(?:in|is|and|or|if|else|for|not)\b)"
_ASYNC_ARGUMENT = _Form(re.compile(r"[(,]\s*(async)(?=\s*=(?!=))"), (_STAND_IN,))
# A parameter of that name is read in the function under it: what is meant by each `async` there is not certain.
_ASYNC_PARAMETER = re.compile(r"\bdef\s+\w+\s*\([^)]*\basync\b")
_OLD_FORMS = (
    _Form(re.compile(rf"{_STATEMENT}(print){_OPERAND}"), ("prin=",)),
    _Form(re.compile(rf"{_STATEMENT}(exec){_OPERAND}"), ("exe=",)),
    _Form(re.compile(r"\bexcept [^:\n]*[\w)](,[ \t]*\w+)(?=[ \t]*:)"), ("",)),
    _Form(re.compile(r"\braise [\w.]+(,)"), (";",)),
    _Form(re.compile(r"(`)[^`\n]+(`)"), ("(", ")")),
    _Form(re.compile(r"(<>)"), ("!=",)),
    _Form(re.compile(r"(?<![\w.])(?:\d+|0[xX][0-9a-fA-F]+)([lL])\b"), ("",)),
    _Form(re.compile(rf"(?<!\w)([uU])(?=[rR]{_S})"), ("",)),
)


def repairs(text: str, failure: ParseFailure) -> Iterator[Repair]:
    """Yield the texts to try in the place of one that does not parse, the nearest first."""
    searched = without_strings(text)
    certain = _STAND_IN not in text and not _ASYNC_PARAMETER.search(searched)
    renamed = _put_right(text, searched, (_ASYNC_ARGUMENT,)) if certain else text
    if renamed != text:
        yield Repair(renamed, None)
    both = _put_right(renamed, searched, _OLD_FORMS)
    if both != renamed:
        yield Repair(both, ParseFailure(failure.message, failure.line, failure.column, refused=renamed))


def _put_right(text: str, searched: str, forms: tuple[_Form, ...]) -> str:
    pieces = list(text)
    for form in forms:
        for match in form.pattern.finditer(searched):
            for group, part in enumerate(form.parts, 1):
                start, end = match.span(group)
                pieces[start:end] = part.ljust(end - start)
    return "".join(pieces)
