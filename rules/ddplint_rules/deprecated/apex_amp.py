"""Mixed precision, the DDP wrapper or the batch norm of apex, which torch has had for years and apex no longer has

## What it finds

`apex.amp.initialize`, `apex.amp.scale_loss`, `apex.parallel.DistributedDataParallel` and
`apex.parallel.convert_syncbn_model`, under whatever name they were imported.

It is silent where the script has torch's own way, too (`torch.amp`, `torch.cuda.amp`, torch's DistributedDataParallel
or SyncBatchNorm), in an `except` block, and under a name that may also stand for something else, such as None where
apex is missing.

## Why it matters

apex has deprecated these parts in favour of torch's, and its newest versions do not have them: the import fails in
every process. The old ones have to be built from source for each torch and CUDA. torch's wrapper exchanges gradients
in buckets during the backward pass with every backend, and torch's autocast needs no patched model.

## Symptoms

- ModuleNotFoundError: No module named 'apex'
- AttributeError: module 'apex' has no attribute 'amp'

## Example

```python bad
import torch
from apex.parallel import convert_syncbn_model


def prepare(model, rank):
    model = convert_syncbn_model(model)  #~ DDP804
    return torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
```

```python fixed
import torch
from apex.parallel import convert_syncbn_model


def prepare(model, rank):
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
```

Mixed precision is moved by hand:

```python bad
import torch
from apex import amp


def train(model, optimizer, loader):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")  #~ DDP804
    for inputs, targets in loader:
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        with amp.scale_loss(loss, optimizer) as scaled:  #~ DDP804
            scaled.backward()
        optimizer.step()
```

```python good
import torch


def train(model, optimizer, loader):
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    scaler = torch.amp.GradScaler("cuda")
    for inputs, targets in loader:
        with torch.autocast("cuda"):
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
```

## Fix

Unsafe, for `convert_syncbn_model`: torch's layers compute the same, and are other objects with other names. The rest is
no change of names: autocast goes around the forward pass, GradScaler around the step, the wrapper wants `device_ids`,
and checkpoints of `amp.state_dict()` do not fit.

## At run time

Confirmed when the import of apex fails, or its deprecation warning is seen.

## References

- Automatic mixed precision: https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- `torch.nn.SyncBatchNorm`: https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html
- apex: https://github.com/NVIDIA/apex
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
    Reference,
    Rule,
    Script,
    Trace,
    Use,
    Verdict,
    warned_of,
)

RULE = Rule(
    code="DDP804",
    name="apex-amp",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("apex",),
    applicability=Applicability.UNSAFE,
)
AUTOCAST = "write `torch.autocast` around the forward pass and `torch.amp.GradScaler` around the step"
CONVERT = "apex.parallel.convert_syncbn_model"
REMEDIES = {
    "apex.amp.initialize": AUTOCAST,
    "apex.amp.scale_loss": AUTOCAST,
    "apex.parallel.DistributedDataParallel": "write `torch.nn.parallel.DistributedDataParallel`",
    CONVERT: "write `torch.nn.SyncBatchNorm.convert_sync_batchnorm`",
}
OWN_AUTOCAST = (
    "torch.amp.autocast",
    "torch.amp.GradScaler",
    "torch.cuda.amp.autocast",
    "torch.cuda.amp.GradScaler",
)
# torch's own way to do what a part of apex does.
ALTERNATIVES = {
    "apex.amp.initialize": OWN_AUTOCAST,
    "apex.amp.scale_loss": OWN_AUTOCAST,
    "apex.parallel.DistributedDataParallel": ("torch.nn.parallel.DistributedDataParallel",),
    CONVERT: ("torch.nn.SyncBatchNorm.convert_sync_batchnorm", "torch.nn.SyncBatchNorm"),
}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what is used of apex where nothing of torch can take its place."""
    for reference in project.references(script, *REMEDIES):
        if reference.use is Use.TYPE or reference.is_fallback:
            continue
        if not project.references(script, *ALTERNATIVES[reference.name]):
            yield Found(reference.expression, _message(reference.name), Confidence.LIKELY, subject=reference)


def _message(name: str) -> str:
    return f"`{name}` is deprecated, and the newest apex no longer has it; {REMEDIES[name]}"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Let torch convert the layers."""
    reference = found.subject
    assert isinstance(reference, Reference)
    call = reference.call
    if reference.name != CONVERT or call is None or len(call.arguments) != 1 or call.arguments[0].star:
        return None
    changes = edits.replace(reference.expression.node, "torch.nn.SyncBatchNorm.convert_sync_batchnorm")
    return Fix(Applicability.UNSAFE, "Use torch's own SyncBatchNorm", (*changes, *edits.add_import("import torch")))


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
