"""Mixed precision through the deprecated torch.cuda.amp.autocast

## What it finds

Every use of `torch.cuda.amp.autocast` and `torch.cpu.amp.autocast`, under whatever name it was imported: called, put
over a function as a decorator, or handed on as a value.

It is silent where a script keeps the old name for old versions of torch: under a test of a version or of a feature,
in an `except` block, and under a name that may also stand for something else, such as apex. Type annotations and type
tests are no use. With a `torch-version` below 2.4 the rule is off.

## Why it matters

Since torch 2.4 every process prints a FutureWarning for each line that enters autocast this way, and a coming version
will not have the name. The new function takes the device first and its other arguments in another order, so that a
call that is only renamed switches autocast on or off by accident: in `torch.amp.autocast("cuda", True)` the second
argument is the dtype.

## Symptoms

- FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)`
  instead.

## Example

```python bad
import torch
from torch.cuda.amp import autocast


def training_step(model, images, labels, use_amp):
    with autocast(use_amp):  #~ DDP801
        return torch.nn.functional.cross_entropy(model(images), labels)
```

```python fixed
import torch
from torch.amp import autocast


def training_step(model, images, labels, use_amp):
    with autocast("cuda", enabled=use_amp):
        return torch.nn.functional.cross_entropy(model(images), labels)
```

The old autocast computes in float16 whatever surrounds it; the new one takes the dtype of an autocast region around
it. Where a program uses bfloat16, too, the fix writes the dtype down:

```python bad
import torch


class Attention(torch.nn.Module):
    @torch.cuda.amp.autocast()  #~ DDP801
    def forward(self, query, key):
        return query @ key.transpose(-2, -1)


def evaluate(model, query, key):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return model(query, key)
```

```python fixed
import torch


class Attention(torch.nn.Module):
    @torch.amp.autocast("cuda", dtype=torch.float16)
    def forward(self, query, key):
        return query @ key.transpose(-2, -1)


def evaluate(model, query, key):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return model(query, key)
```

A script that still runs on older versions of torch chooses by itself:

```python good
import torch

if hasattr(torch.amp, "GradScaler"):
    from torch.amp import autocast
else:
    from torch.cuda.amp import autocast
```

## Fix

Safe: on torch 2.4 and newer the file does the same as before, without the warnings. A use by its full name is
rewritten by itself. An import is rewritten together with all uses of the names that it binds; so a fix may also move
what DDP802 and DDP803 speak of, when it is imported on the same line or used through the same module. There is no fix
when a use can't be followed: the name is listed in `__all__`, read by another file, or handed to other code; or when
some code tells the old class from the new one, as `isinstance` does.

## At run time

Confirmed when torch's FutureWarning for this line is seen. Not exercised when the line was never reached.

## References

- `torch.amp.autocast`: https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
- The deprecated form: https://docs.pytorch.org/docs/stable/amp.html#torch.cuda.amp.autocast
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Confidence,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Project,
    Rule,
    Script,
    TorchAmpMove,
    Trace,
    Use,
    Verdict,
    warned_of,
)

RULE = Rule(
    code="DDP801",
    name="cuda-amp-autocast",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("autocast",),
    applicability=Applicability.SAFE,
    torch=(2, 4),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    for reference in project.references(script, "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"):
        if reference.use is Use.TYPE or reference.is_fallback:
            continue
        move = TorchAmpMove(project, reference)
        yield Found(
            at=reference.expression,
            message=(
                f"`{reference.name}` is deprecated since torch 2.4 and warns in every process; "
                f'write `{move.new_name}("{move.device}", ...)`'
            ),
            confidence=Confidence.CERTAIN,
            subject=move,
        )


def fix(found: Found, edits: Editor) -> Fix | None:
    assert isinstance(found.subject, TorchAmpMove)
    return found.subject.fix(edits)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
