"""A private helper of torch.distributed that turns one rank into another, under its old name

## What it finds

`_get_global_rank` and `_get_group_rank` of `torch.distributed.distributed_c10d`, under whatever name they were
imported.

It is silent where a script keeps the old name for old versions of torch: under a test of a version or of a feature, in
an `except` block, and under a name that may also stand for something of the script's own. With a `torch-version` below
2.0 the rule is off.

## Why it matters

torch 2.0 made both public, without the underscore. Since then `_get_global_rank` prints a FutureWarning in every
process and waits for its removal, and `_get_group_rank` is an error on every rank: the name is gone.

## Symptoms

- AttributeError: module 'torch.distributed' has no attribute

## Example

```python bad
import torch.distributed as dist
from torch.distributed.distributed_c10d import _get_global_rank


def broadcast_from_first(tensor, group):
    dist.broadcast(tensor, src=_get_global_rank(group, 0), group=group)  #~ DDP809
```

```python fixed
import torch.distributed as dist
from torch.distributed.distributed_c10d import get_global_rank


def broadcast_from_first(tensor, group):
    dist.broadcast(tensor, src=get_global_rank(group, 0), group=group)
```

```python good
import torch.distributed as dist


def broadcast_from_first(tensor, group):
    dist.broadcast(tensor, src=dist.get_global_rank(group, 0), group=group)
```

## Fix

Safe: the public functions take the same arguments and give the same answers. There is none where other files read an
imported name, or where the file uses the new name for something else.

## At run time

Confirmed when torch's FutureWarning for this line is seen, or its ImportError or AttributeError. Not exercised when the
line was never reached.

## References

- `get_global_rank` and `get_group_rank`: https://docs.pytorch.org/docs/stable/distributed.html#groups
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
    Rename,
    Rule,
    Script,
    Trace,
    Use,
    Verdict,
    warned_of,
)

RULE = Rule(
    code="DDP809",
    name="legacy-rank-helper",
    impact=Impact.DEPRECATED,
    since="0.1.0",
    triggers=("_get_global_rank", "_get_group_rank"),
    applicability=Applicability.SAFE,
    torch=(2, 0),
)
DEPRECATED = "torch.distributed._get_global_rank"
GONE = "torch.distributed._get_group_rank"


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the uses of the private helpers."""
    for reference in project.references(script, DEPRECATED, GONE):
        if reference.use is not Use.TYPE and not reference.is_fallback:
            gone = reference.name == GONE
            yield Found(
                reference.expression,
                _message(reference.name),
                Confidence.CERTAIN,
                subject=Rename(project, reference, reference.name.rpartition("._")[2]),
                impact=Impact.CRASH if gone else None,
            )


def _message(name: str) -> str:
    public = name.replace("._", ".")
    cost = (
        "is gone since torch 2.0, and every process fails"
        if name == GONE
        else "is deprecated and warns in every process"
    )
    return f"`{name.rpartition('.')[2]}` {cost}; write `{public}`"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Use the public name."""
    assert isinstance(found.subject, Rename)
    changes = found.subject.edits(edits)
    return Fix(Applicability.SAFE, f"Use `{found.subject.new}`", changes) if changes else None


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for what torch says at the line."""
    return warned_of(finding, trace)
