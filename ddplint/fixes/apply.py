"""Edits put into a text."""

from __future__ import annotations

from collections.abc import Iterable

from ddplint.errors import Defect
from ddplint.findings import Edit
from ddplint.source import SourceFile


def apply(source: SourceFile, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made; equal edits are made once, all else stays as it is.

    Several insertions at one point come in the order given, before what replaces the text that follows the point.
    Raises Defect for edits that overlap or lie outside the file.
    """
    try:
        offsets = [(source.offset(edit.start), source.offset(edit.end), edit.content) for edit in dict.fromkeys(edits)]
    except ValueError as error:
        raise Defect(f"an edit lies outside the file: {error}") from None
    pieces, copied = [], 0
    for start, end, content in sorted(offsets, key=lambda edit: edit[:2]):
        if not copied <= start <= end:
            raise Defect("two edits overlap")
        pieces += [source.text[copied:start], content]
        copied = end
    return "".join(pieces) + source.text[copied:]
