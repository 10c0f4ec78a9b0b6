"""The names of files that a path is known to spell, whatever folder they lie in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.semantics import Attribute, Call, Constant, Expression, FormattedText
from ddplint.semantics.expressions import Operation, last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What stands for a part of a name that is filled in.
_ANY = "{}"
_FIELD = re.compile(r"%[-+0-9.]*[sdifg]|\{[^{}]*\}")
# A name that says something: letters before the ending.
_TELLING = re.compile(r"^[^.{}]*[A-Za-z]{2}[^{}]*")
_DEEPEST = 6


def file_names(project: Project, path: Expression, frame: Frame | None) -> frozenset[str]:
    """Return the last parts of what a path can be, as far as they are spelled out; ``{}`` is a part filled in.

    ``frame``: how the function around the path is run.
    """
    texts = (text.replace("\\", "/").rpartition("/")[2] for text in _texts(project, path, frame, 0))
    return frozenset(text for text in texts if _TELLING.match(text))


def _texts(project: Project, path: Expression, frame: Frame | None, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    for source, inside in project.frames.sources(path, frame):
        if isinstance(source, Constant) and isinstance(source.value, str):
            yield source.value
        elif isinstance(source, FormattedText):
            yield "".join(piece if isinstance(piece, str) else _ANY for piece in source.pieces)
        elif isinstance(source, Operation) and len(source.operands) == 2:
            yield from _joined(project, source, inside, depth)
        elif isinstance(source, Call) and source.arguments:
            yield from _called(project, source, inside, depth)


def _joined(project: Project, made: Operation, frame: Frame | None, depth: int) -> Iterator[str]:
    """Yield what ``folder / "name"``, ``folder + "/name"`` and ``"name_%d" % epoch`` spell."""
    first, last = made.operands
    if made.operator == "%":
        yield from (_FIELD.sub(_ANY, text) for text in _texts(project, first, frame, depth + 1))
    elif made.operator == "/":
        yield from _texts(project, last, frame, depth + 1)
    elif made.operator == "+":
        ends = list(_texts(project, last, frame, depth + 1)) or [_ANY]
        starts = list(_texts(project, first, frame, depth + 1)) or [_ANY]
        yield from (start + end for start in starts for end in ends)


def _called(project: Project, call: Call, frame: Frame | None, depth: int) -> Iterator[str]:
    if isinstance(call.callee, Attribute) and call.callee.name == "format":
        yield from (_FIELD.sub(_ANY, text) for text in _texts(project, call.callee.base, frame, depth + 1))
    elif last_name(call.callee) in ("join", "joinpath", "Path", "str", "fspath"):
        last = call.arguments[-1]
        if not last.star:
            yield from _texts(project, last.value, frame, depth + 1)
