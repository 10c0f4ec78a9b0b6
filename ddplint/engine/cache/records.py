"""What was found in a file, as JSON values and back.

JSON and not pickle: a cache may come with a repository from anywhere, and reading it must run nothing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ddplint.engine.outcomes import Linted
from ddplint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Place
from ddplint.source import Position

Record: TypeAlias = list[Any]


def to_record(outcome: Linted) -> Record:
    """Return an outcome without defects as values that JSON knows."""
    return [outcome.path, outcome.hidden, [_finding_record(finding) for finding in outcome.findings]]


def from_record(record: Record) -> Linted:
    """Return the outcome of a record; raises ValueError, TypeError or KeyError for one that is damaged."""
    path, hidden, findings = record
    return Linted(_text(path), tuple(map(_finding, findings)), (), int(hidden))


def _finding_record(finding: Finding) -> Record:
    return [
        finding.code,
        finding.name,
        finding.impact.value,
        finding.confidence.value,
        finding.message,
        _place_record(finding.place),
        finding.statement,
        [_place_record(place) for place in finding.related],
        None if finding.fix is None else _fix_record(finding.fix),
    ]


def _place_record(place: Place) -> Record:
    return [place.path, place.start, place.end, place.excerpt, place.note]


def _fix_record(fix: Fix) -> Record:
    edits = [[edit.path, edit.start, edit.end, edit.content] for edit in fix.edits]
    return [fix.applicability.value, fix.message, edits]


def _finding(record: Record) -> Finding:
    code, name, impact, confidence, message, place, statement, related, fix = record
    first, last = statement
    return Finding(
        _text(code),
        _text(name),
        Impact(impact),
        Confidence(confidence),
        _text(message),
        _place(place),
        (int(first), int(last)),
        tuple(map(_place, related)),
        None if fix is None else _fix(fix),
    )


def _place(record: Record) -> Place:
    path, start, end, excerpt, note = record
    return Place(_text(path), _position(start), _position(end), _text(excerpt), _text(note))


def _fix(record: Record) -> Fix:
    applicability, message, edits = record
    return Fix(Applicability(applicability), _text(message), tuple(map(_edit, edits)))


def _edit(record: Record) -> Edit:
    path, start, end, content = record
    return Edit(_text(path), _position(start), _position(end), _text(content))


def _position(record: Record) -> Position:
    line, column = record
    return Position(int(line), int(column))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a string was expected, not {value!r}")
    return value
