"""An argument named `async`, which has been a keyword since Python 3.7, so that the script cannot start

## What it finds

`async=...` in a call: `tensor.cuda(async=True)`, `module.to(device, async=True)`, `target.copy_(source, async=True)`.
torch renamed the argument to `non_blocking` when Python made `async` a keyword. A file in which this is all that Python
refuses is checked by the other rules as if it were repaired; what else is wrong with it is said by DDP000.

## Why it matters

Python refuses the whole file: every process stops before its first line. Most scripts of that time are otherwise
fit to run.

## Symptoms

- SyntaxError: invalid syntax at .cuda(async=True)

## Example

```python bad
import torch


def train(model, loader):
    for images, targets in loader:
        images = images.cuda(async=True)  #~ DDP810
        loss = model(images, targets.to("cuda", async=True))  #~ DDP810
        loss.backward()
```

```python fixed
import torch


def train(model, loader):
    for images, targets in loader:
        images = images.cuda(non_blocking=True)
        loss = model(images, targets.to("cuda", non_blocking=True))
        loss.backward()
```

```python good
import asyncio


async def main(batch):
    await asyncio.sleep(0)
    return batch.cuda(non_blocking=True)
```

## Fix

Safe: the file could not be read before. Only the name changes. There is none for calls that are not of torch's
methods `cuda`, `to` and `copy_`: their argument may have another name today.

## At run time

Confirmed when the interpreter refuses the file; nothing of it runs.

## References

- `async` and `await` became keywords: https://docs.python.org/3/whatsnew/3.7.html
- `non_blocking`: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Argument,
    Attribute,
    Call,
    Confidence,
    Editor,
    Fix,
    Found,
    Impact,
    Project,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP810",
    name="legacy-async-argument",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("async",),
    applicability=Applicability.SAFE,
)
TORCHS = frozenset({"cuda", "to", "copy_"})


def check(script: Script, project: Project) -> Iterator[Found]:  # noqa: ARG001 - every check is given both
    """Report the arguments of that name; only a repaired file has any."""
    for call in script.calls if script.repair is not None else ():
        for given in call.arguments:
            if given.keyword == "async":
                yield Found(given.node, _message(call), Confidence.CERTAIN, subject=given if _is_torchs(call) else None)


def _is_torchs(call: Call) -> bool:
    return isinstance(call.callee, Attribute) and call.callee.name in TORCHS


def _message(call: Call) -> str:
    remedy = "write `non_blocking=`" if _is_torchs(call) else "give the argument its name of today"
    return f"`async` is a keyword since Python 3.7: no process can read this file; {remedy}"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Give the argument its name of today."""
    if not isinstance(found.subject, Argument) or found.subject.node.keyword is None:
        return None
    changes = edits.replace(found.subject.node.keyword, "non_blocking")
    return Fix(Applicability.SAFE, "Rename the argument to `non_blocking`", changes)
