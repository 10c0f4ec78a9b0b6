"""Autograd functions made fit for autocast by the deprecated torch.cuda.amp.custom_fwd and custom_bwd

## What it finds

Every use of `torch.cuda.amp.custom_fwd` and `torch.cuda.amp.custom_bwd`, under whatever name they were imported: as
decorators with and without arguments, and called on a function.

It is silent where a script keeps the old names for old versions of torch: under a test of a version or of a feature,
in an `except` block, and under a name that may also stand for something else. With a `torch-version` below 2.4 the
rule is off.

## Why it matters

Since torch 2.4 every process prints a FutureWarning for each function that is decorated this way, as soon as the
module is imported, and a coming version will not have the names. The new decorators have to be told the device: a
decorator that is only renamed fails with a TypeError.

## Symptoms

- FutureWarning: `torch.cuda.amp.custom_fwd(args...)` is deprecated

## Example

```python bad
import torch
from torch.cuda.amp import custom_bwd, custom_fwd


class Scale(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)  #~ DDP803
    def forward(ctx, values):
        return values * 2

    @staticmethod
    @custom_bwd  #~ DDP803
    def backward(ctx, gradient):
        return gradient * 2
```

```python fixed
import torch
from torch.amp import custom_bwd, custom_fwd


class Scale(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32, device_type="cuda")
    def forward(ctx, values):
        return values * 2

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, gradient):
        return gradient * 2
```

A script that still runs on older versions of torch chooses by itself:

```python good
from functools import partial

import torch

if hasattr(torch.amp, "custom_fwd"):
    custom_fwd = partial(torch.amp.custom_fwd, device_type="cuda")
else:
    custom_fwd = torch.cuda.amp.custom_fwd
```

## Fix

Safe: on torch 2.4 and newer the file does the same as before, without the warnings. A use by its full name is
rewritten by itself. An import is rewritten together with all uses of the names that it binds; so a fix may also move
what DDP801 and DDP802 speak of, when it is imported on the same line or used through the same module. There is no fix
when a use can't be followed: the name is listed in `__all__`, read by another file, or handed to other code.

## At run time

Confirmed when torch's FutureWarning for this line is seen. Not exercised when the module was never imported.

## References

- `torch.amp.custom_fwd`: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.custom_fwd
- Autograd functions under autocast:
  https://docs.pytorch.org/docs/stable/notes/amp_examples.html#autocast-and-custom-autograd-functions
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
    code="DDP803",
    name="cuda-amp-custom-function",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("custom_fwd", "custom_bwd"),
    applicability=Applicability.SAFE,
    torch=(2, 4),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    for reference in project.references(script, "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd"):
        if reference.use is Use.TYPE or reference.is_fallback:
            continue
        move = TorchAmpMove(project, reference)
        yield Found(
            at=reference.expression,
            message=(
                f"`{reference.name}` is deprecated since torch 2.4 and warns in every process; "
                f'write `{move.new_name}(device_type="{move.device}")`'
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
