"""Loss scaling through the deprecated torch.cuda.amp.GradScaler

## What it finds

Every use of `torch.cuda.amp.GradScaler` and `torch.cpu.amp.GradScaler`, under whatever name it was imported: called,
derived from, or handed on as a value.

It is silent where a script keeps the old name for old versions of torch: under a test of a version or of a feature,
in an `except` block, and under a name that may also stand for a class of the script's own. Type annotations and type
tests are no use. With a `torch-version` below 2.4 the rule is off.

## Why it matters

Since torch 2.4 every process prints a FutureWarning when it makes a scaler this way, and a coming version will not
have the name. The old class derives from `torch.amp.GradScaler`, so that scalers of both kinds have the same state
and checkpoints fit either.

## Symptoms

- FutureWarning: `torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cuda',
  args...)` instead.

## Example

```python bad
import torch
from torch.cuda.amp import GradScaler

scaler = GradScaler(enabled=torch.cuda.is_available())  #~ DDP802
```

```python fixed
import torch
from torch.amp import GradScaler

scaler = GradScaler("cuda", enabled=torch.cuda.is_available())
```

The arguments keep their order behind the device:

```python bad
import torch


class Trainer:
    def __init__(self, init_scale):
        self.scaler = torch.cuda.amp.GradScaler(init_scale, growth_interval=500)  #~ DDP802
```

```python fixed
import torch


class Trainer:
    def __init__(self, init_scale):
        self.scaler = torch.amp.GradScaler("cuda", init_scale, growth_interval=500)
```

A class of the script's own takes over where torch has none:

```python good
try:
    from torch.cuda.amp import GradScaler
except ImportError:

    class GradScaler:
        def scale(self, loss):
            return loss


scaler = GradScaler()
```

## Fix

Safe: on torch 2.4 and newer the file does the same as before, without the warnings. A use by its full name is
rewritten by itself. An import is rewritten together with all uses of the names that it binds; so a fix may also move
what DDP801 and DDP803 speak of, when it is imported on the same line or used through the same module. There is no fix
for classes that derive from the scaler, when a use can't be followed (listed in `__all__`, read by another file,
handed to other code), or when some code tells the old class from the new one, as `isinstance` does.

## At run time

Confirmed when torch's FutureWarning for this line is seen. Not exercised when the line was never reached.

## References

- `torch.amp.GradScaler`: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
- The deprecated form: https://docs.pytorch.org/docs/stable/amp.html#torch.cuda.amp.GradScaler
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
    code="DDP802",
    name="cuda-amp-gradscaler",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("GradScaler",),
    applicability=Applicability.SAFE,
    torch=(2, 4),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    for reference in project.references(script, "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler"):
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
