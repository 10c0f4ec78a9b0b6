"""A wrapper for distributed training that is deprecated or gone from torch

## What it finds

`torch.nn.parallel.DistributedDataParallelCPU`, under whatever name it was imported, and everything of
`torch.nn.parallel.deprecated` and `torch.distributed.deprecated`, the old C++ backend.

It is silent where a script keeps the old name for old versions of torch: under a test of a version or of a feature, in
an `except` block, and under a name that may also stand for something of the script's own.

## Why it matters

DistributedDataParallelCPU is DistributedDataParallel with a FutureWarning in every process, and a coming version will
not have the name. The modules called `deprecated` have been gone for years: every process fails at the import.

## Symptoms

- torch.nn.parallel.DistributedDataParallelCPU is gone

## Example

```python bad
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallelCPU(torch.nn.Linear(8, 2))  #~ DDP806
```

```python fixed
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 2))
```

```python good
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(nn.Linear(8, 2))
```

## Fix

Safe for DistributedDataParallelCPU: its class adds nothing to DistributedDataParallel. There is none where code asks
for the exact class or the name is read by other files, and none for what is gone: a program for it has more to change,
from the start of its processes on.

## At run time

Confirmed when torch's FutureWarning for this line is seen, or the import fails.

## References

- DistributedDataParallel: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Confidence,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Project,
    Rename,
    Rule,
    Script,
    Statement,
    Trace,
    Use,
    Verdict,
    is_fallback,
    warned_of,
)

RULE = Rule(
    code="DDP806",
    name="legacy-ddp-class",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("DistributedDataParallelCPU", "parallel.deprecated", "distributed.deprecated"),
    applicability=Applicability.SAFE,
    torch=(2, 0),
)
FOR_CPU = "torch.nn.parallel.DistributedDataParallelCPU"
GONE = ("torch.nn.parallel.deprecated", "torch.distributed.deprecated")


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the uses of the old class, and where modules that are gone are imported or looked into."""
    for reference in project.references(script, FOR_CPU):
        if reference.use is not Use.TYPE and not reference.is_fallback:
            yield Found(
                reference.expression,
                "`DistributedDataParallelCPU` is deprecated and warns in every process; write "
                "`torch.nn.parallel.DistributedDataParallel`",
                Confidence.CERTAIN,
                subject=Rename(project, reference, "DistributedDataParallel"),
            )
    for module in GONE:
        first = next(_places(script, module, project), None)
        if first is not None:
            yield Found(first.node, _gone(module), Confidence.CERTAIN, impact=Impact.CRASH)


def _places(script: Script, module: str, project: Project) -> Iterator[Statement | Expression]:
    """Yield where a module is imported, or is read as an attribute, without another way beside it."""
    for name, statement, _ in script.imports:
        if f"{name}.".startswith(f"{module}.") and not is_fallback(statement):
            yield statement
    for attribute in script.attributes:
        if attribute.name == "deprecated" and project.names(attribute) == {module} and not is_fallback(attribute):
            yield attribute


def _gone(module: str) -> str:
    successor = module.removesuffix(".deprecated")
    return f"`{module}` is gone from torch, and every process fails here; write `{successor}`"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Use the class that it is."""
    rename = found.subject
    if not isinstance(rename, Rename):
        return None
    script = rename.reference.expression.scope.script
    changes = () if rename.project.is_told_apart(script, "DistributedDataParallelCPU") else rename.edits(edits)
    return Fix(Applicability.SAFE, "Use `DistributedDataParallel`", changes) if changes else None


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
