"""The lines of evidence that verdicts of several rules are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddplint.findings import Finding
    from ddplint.trace import Trace

_LONGEST = 60  # characters of a quotation


def ranks_named(ranks: Iterable[int], trace: Trace) -> str:
    """Return what to call some ranks of a run: ``rank 0``, ``ranks 0 and 2``, ``both ranks``, ``all 4 ranks``."""
    numbers = sorted(set(ranks))
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if numbers == list(trace.ranks):
        return "both ranks" if len(numbers) == 2 else f"all {len(numbers)} ranks"
    return f"ranks {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def quoted(text: str) -> str:
    """Return what a script said, short enough for a line of evidence."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _LONGEST else f'"{line[: _LONGEST - 3]}..."'


def decided_by(finding: Finding, trace: Trace) -> str | None:
    """Return which test let only some ranks come to a finding, None when that can't be told.

    The test is the first related place of the finding, if it is one of its own file.
    """
    test = next(iter(finding.related), None)
    if test is None:
        return None
    before, after = trace.reached(test), trace.reached(finding.lines)
    passed = [rank for rank, count in after.items() if count]
    stayed = [rank for rank, count in after.items() if not count and before.get(rank)]
    if not passed or not stayed:
        return None
    where = f"`{test.excerpt.strip().rstrip(':')}` ({test.path}:{test.start.line})"
    return f"decided by {where}: {ranks_named(passed, trace)} passed, {ranks_named(stayed, trace)} did not"
