"""Findings, reports and rules for the tests of the formats, with what a test does not care about filled in."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from ddplint.engine.outcomes import Linted, Outcome, Report, RuleDefect
from ddplint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Place, Verdict
from ddplint.rulekit import Rule
from ddplint.rulekit.pack import RegisteredRule
from ddplint.source import Position

DOCUMENTATION = """The sampler deals the same order in every epoch.

## What it finds
A shuffling `DistributedSampler` whose `set_epoch` nothing calls.

## Why it matters
Nothing warns.

## Example
```python bad
for epoch in range(9):  #~ DDP202
    train(loader)
```
Then:
```python fixed
for epoch in range(9):
    sampler.set_epoch(epoch)
    train(loader)
```
```python good
sampler = DistributedSampler(data, shuffle=False)
```

## Fix
Safe.

## At run time
The order of two epochs.

## References
- torch.utils.data.distributed
"""


def place(
    path: str = "train.py", line: int = 4, columns: tuple[int, int] = (1, 6), text: str = "model", note: str = ""
) -> Place:
    return Place(path, Position(line, columns[0]), Position(line, columns[1]), text, note)


def fix(applicability: Applicability = Applicability.SAFE) -> Fix:
    insertion = Edit("train.py", Position(5, 1), Position(5, 1), "    sampler.set_epoch(epoch)\n")
    return Fix(applicability, "Call set_epoch at the top of the loop", (insertion,))


def finding(
    code: str = "DDP202",
    name: str = "missing-set-epoch",
    impact: Impact = Impact.WRONG,
    message: str = "Same order.",
    *,
    at: Place | None = None,
    related: tuple[Place, ...] = (),
    fix: Fix | None = None,
    confidence: Confidence = Confidence.LIKELY,
    verdict: Verdict | None = None,
) -> Finding:
    where = at or place()
    return Finding(
        code, name, impact, confidence, message, where, (where.start.line, where.end.line), related, fix, verdict
    )


def report(
    *findings: Finding, others: tuple[Outcome, ...] = (), defects: tuple[RuleDefect, ...] = (), hidden: int = 0
) -> Report:
    """A run over the files of the findings (or one clean file) and over ``others``, with ``hidden`` left out."""
    paths = dict.fromkeys([found.path for found in findings] or ["train.py"])
    linted = [Linted(path, tuple(found for found in findings if found.path == path)) for path in paths]
    linted[0] = replace(linted[0], defects=defects, hidden=hidden)
    return Report((*linted, *others))


def rule(
    code: str = "DDP202",
    name: str = "missing-set-epoch",
    impact: Impact = Impact.WRONG,
    *,
    documentation: str | None = DOCUMENTATION,
    applicability: Applicability | None = Applicability.SAFE,
    torch: tuple[int, int] | None = None,
    torch_before: tuple[int, int] | None = None,
) -> RegisteredRule:
    module = ModuleType(f"pack.{name}", documentation)
    made = Rule(
        code,
        name,
        impact,
        "0.1.0",
        ("DistributedSampler",),
        applicability=applicability,
        torch=torch,
        torch_before=torch_before,
    )
    return RegisteredRule(made, module)
