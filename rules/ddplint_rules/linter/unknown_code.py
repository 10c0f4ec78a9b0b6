"""A suppression comment that names no rule, or cannot be read

## What it finds

A code or a name in `# ddplint: ignore[...]`, `# ddplint: ignore-file[...]` or `# noqa: DDPnnn` that belongs to no
rule, and a comment that starts with `# ddplint:` and goes on with something else. Codes of other tools behind `noqa`
are none of its business.

## Why it matters

The comment suppresses nothing. The finding that it was written for comes back, or, when it was written ahead, nobody
notices that it never worked.

## Example

A letter too many, a digit too few:

```python bad
from torch.nn import DataParallel, Linear

model = DataParallel(Linear(4, 2))  # ddplint: ignore[data-paralell]  #~ DDP002
other = DataParallel(Linear(4, 2))  # noqa: DDP11  #~ DDP002
```

A code without its brackets:

```python bad
from torch.nn import DataParallel, Linear

model = DataParallel(Linear(4, 2))  # ddplint: ignore DDP101  #~ DDP002
```

Names and codes both do, also beside those of other tools:

```python good
from torch.nn import DataParallel, Linear

model = DataParallel(Linear(4, 2))  # ddplint: ignore[data-parallel] a demonstration for one machine
other = DataParallel(Linear(4, 2))  # noqa: E501, DDP101
```

## Fix

None: what was meant is a guess, and a wrong guess would hide a mistake.

## At run time

Nothing to see: a comment does not run.

## References

- The forms of suppression comments: the README of ddplint, section "Suppressing a finding"
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ddplint.rulekit import Confidence, Found, Impact, Rule, SuppressionReport

RULE = Rule(code="DDP002", name="unknown-code", impact=Impact.NOISE, since="0.1.0", triggers=("ddplint:", "noqa"))


def check_suppressions(report: SuppressionReport) -> Iterator[Found]:
    """Name each code that belongs to no rule, and each comment that cannot be read."""
    for _, code in report.unknown:
        text = f"`{code.text}` is no rule, so nothing is suppressed; {_advice(code.text, report.known)}"
        yield Found((code.start, code.end), text, Confidence.CERTAIN)
    for comment in report.malformed:
        text = (
            "this comment cannot be read, so nothing is suppressed; write `# ddplint: ignore[CODE]` at the end of a "
            "line or `# ddplint: ignore-file[CODE]` on a line of its own"
        )
        yield Found((comment.start, comment.end), text, Confidence.CERTAIN)


def _advice(code: str, known: tuple[str, ...]) -> str:
    """Return the nearest code or name, whatever its case and whether hyphens or underscores join its words."""
    written = {name.lower(): name for name in known}
    close = difflib.get_close_matches(code.lower().replace("_", "-"), written, n=1)
    return f"write `{written[close[0]]}`" if close else "`ddplint rules` lists them all"
