"""Suppression comments for findings that are left as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ddplint.findings import Finding
from ddplint.source import SourceFile
from ddplint.source.suppressions import Suppression, find_suppressions


def with_ignores(source: SourceFile, findings: Iterable[Finding]) -> str:
    """Return the text with a comment for each finding, at the end of the last line of its statement.

    A comment of ours that is there already takes the code in. A line on which no comment can stand, because it ends
    inside a string or goes on with a backslash, is left alone.
    """
    wanted: dict[int, set[str]] = {}
    for finding in findings:
        wanted.setdefault(finding.statement[1], set()).add(finding.code)
    text = source.text
    for line in sorted(wanted, reverse=True):
        changed = _with_ignore(replace(source, text=text), line, sorted(wanted[line]))
        if _ignored(replace(source, text=changed), line) >= wanted[line]:
            text = changed
    return text


def _with_ignore(source: SourceFile, line: int, codes: Sequence[str]) -> str:
    ours = next((one for one in _ignores(source, line) if one.codes), None)
    content = source.line(line)
    if ours is not None:
        new = [code for code in codes if code not in {known.text.upper() for known in ours.codes}]
        offset, added = source.offset(ours.codes[-1].end), "".join(f", {code}" for code in new)
    else:
        end = len(content.rstrip())
        offset = source.line_starts[line - 1] + end
        added = f"{'  ' if end else ''}# ddplint: ignore[{', '.join(codes)}]"
    return source.text[:offset] + added + source.text[offset:]


def _ignores(source: SourceFile, line: int) -> list[Suppression]:
    return [one for one in find_suppressions(source) if one.line == line and one.kind == "ignore"]


def _ignored(source: SourceFile, line: int) -> set[str]:
    return {code.text.upper() for one in _ignores(source, line) for code in one.codes}
