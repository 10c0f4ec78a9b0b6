"""A suppression comment that suppresses nothing

## What it finds

A code in `# ddplint: ignore[...]`, `# ddplint: ignore-file[...]` or `# noqa: DDPnnn`, or a whole `# ddplint: ignore`,
that covers no finding. It speaks only of rules that were selected and ran to their end on the file; of a bare
`# noqa` it never speaks, because that one also addresses other tools.

## Why it matters

The mistake that the comment excused is gone, or never was on this line. What stays is a comment that will hide the
next mistake of its kind, on a line where nobody expects it to be hidden.

## Example

The epoch is set, and the comment that excused its absence has stayed:

```python bad
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(dataset, epochs, step):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)  # ddplint: ignore[DDP202] one epoch only  #~ DDP001
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            step(batch)
```

```python fixed
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(dataset, epochs, step):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            step(batch)
```

A comment that is needed:

```python good
from torch.cuda.amp import GradScaler

scaler = GradScaler()  # ddplint: ignore[DDP802] this project still runs on torch 1.13
```

## Fix

Safe: the code goes, and the comment with it when it was the only one. What runs is not touched.

## At run time

Nothing to see: a comment does not run.

## References

- The forms of suppression comments: the README of ddplint, section "Suppressing a finding"
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Applicability, Confidence, Edit, Editor, Fix, Found, Impact, Rule, SuppressionReport

RULE = Rule(
    code="DDP001",
    name="unused-suppression",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=("ddplint:", "noqa"),
    applicability=Applicability.SAFE,
)


def check_suppressions(report: SuppressionReport) -> Iterator[Found]:
    """Name each code, or whole comment, that covers no finding."""
    for comment, code in report.unused:
        what, where = ("this comment", comment) if code is None else (f"`{code.text}`", code)
        yield Found(
            (where.start, where.end),
            f"{what} suppresses nothing here; it would hide the next mistake of its kind; remove it",
            Confidence.CERTAIN,
            subject=Edit(report.source.path, *where.removal, ""),
        )


def fix(found: Found, _edits: Editor) -> Fix:
    """Cut the code, or the comment that holds no other."""
    assert isinstance(found.subject, Edit)
    return Fix(Applicability.SAFE, "remove the unused suppression", (found.subject,))
