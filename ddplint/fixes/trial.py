"""Fixes tried on copies of the files, and what is held against the result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ddplint.errors import Defect, SourceError
from ddplint.findings import Edit, Finding, Impact
from ddplint.fixes.apply import apply
from ddplint.source import SourceFile

Lint = Callable[[Mapping[str, SourceFile]], Mapping[str, Sequence[Finding]]]

_SEVERE = frozenset({Impact.CRASH, Impact.HANG, Impact.WRONG})


@dataclass(frozen=True, slots=True)
class State:
    """The files as they are at one point of the run, and what is found in them."""

    sources: Mapping[str, SourceFile]
    findings: Mapping[str, Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Trial:
    """The state after some fixes, or the reason why they cannot be made."""

    state: State
    complaint: str | None = None


def try_fixes(state: State, findings: Sequence[Finding], watched: frozenset[str], lint: Lint) -> Trial:
    """Make the fixes of some findings on copies, lint what may have changed, and compare.

    ``watched`` names the files to lint besides those that the fixes touch, in the state that they are in.
    """
    edits = dict.fromkeys(edit for finding in findings if finding.fix for edit in finding.fix.edits)
    try:
        changed = {path: _edited(state.sources[path], edits, path) for path in {edit.path for edit in edits}}
    except (Defect, SourceError) as error:
        return Trial(state, str(error))
    broken = _first_breakage(state.sources, changed)
    if broken is not None:
        return Trial(state, broken)
    sources = {**state.sources, **changed}
    touched = changed.keys() | {finding.path for finding in findings}
    found = lint({path: sources[path] for path in sorted(touched | watched)})
    complaint = next((why for path in sorted(touched) if (why := _complaint(path, state, found, findings))), None)
    return Trial(State(sources, {**state.findings, **found}), complaint)


def _edited(source: SourceFile, edits: Iterable[Edit], path: str) -> SourceFile:
    text = apply(source, [edit for edit in edits if edit.path == path])
    source.encode(text)
    return replace(source, text=text)


def _first_breakage(before: Mapping[str, SourceFile], changed: Mapping[str, SourceFile]) -> str | None:
    # It loads LibCST, which a run that fixes nothing never needs.
    from ddplint.edits import breakage

    for path, source in sorted(changed.items()):
        why = breakage(before[path], source.text)
        if why is not None:
            return f"{path} would no longer parse: {why}"
    return None


def _complaint(
    path: str, before: State, found: Mapping[str, Sequence[Finding]], fixed: Sequence[Finding]
) -> str | None:
    """Say which fixed finding of a file is still there, or which severe one is new."""
    if path not in found:
        return f"{path} could no longer be linted"
    after = _counts(found[path])
    allowed = _counts(before.findings.get(path, ()))
    own = _counts(finding for finding in fixed if finding.path == path)
    allowed.subtract(own)
    for key in own:
        if after[key] > allowed[key]:
            return f"{path} still has the finding: {key[0]} {key[1]}"
    for finding in found[path]:
        if finding.impact in _SEVERE and after[_key(finding)] > allowed[_key(finding)]:
            return f"{path}:{finding.place.start.line} has a new finding: {finding.code} {finding.message}"
    return None


def _counts(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    return Counter(_key(finding) for finding in findings)


def _key(finding: Finding) -> tuple[str, str]:
    # A message may name a line, and lines move.
    return finding.code, re.sub(r"\d+", "#", finding.message)
