"""An evaluation loader's DistributedSampler shuffles by default

## What it finds

A `DistributedSampler` without a `shuffle` argument whose loader is run over to evaluate. Since the order seldom
matters there, the finding is shown with `--pedantic` only.

It is silent where `shuffle` is given, whatever it is, and where it can't be told what the loader is for.

## Why it matters

`DistributedSampler` shuffles unless it is told otherwise. An evaluation gains nothing from that and loses two things:
the outputs no longer stand in the order of the dataset, and the samples that are repeated to fill up the last ranks
are random ones.

## Example

```python bad
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def evaluate(model, valid_set, count):
    valid_loader = DataLoader(valid_set, batch_size=64, sampler=DistributedSampler(valid_set))  #~ DDP217
    model.eval()
    with torch.no_grad():
        return sum(count(model(images), labels) for images, labels in valid_loader)
```

```python fixed
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def evaluate(model, valid_set, count):
    valid_loader = DataLoader(valid_set, batch_size=64, sampler=DistributedSampler(valid_set, shuffle=False))
    model.eval()
    with torch.no_grad():
        return sum(count(model(images), labels) for images, labels in valid_loader)
```

```python good
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def loader_for(dataset, is_train):
    sampler = DistributedSampler(dataset, shuffle=is_train)
    return DataLoader(dataset, batch_size=64, sampler=sampler)
```

## Fix

Safe: `shuffle=False` changes the order of the evaluation alone, and each rank gets as many samples as before.

## At run time

Confirmed: the indices of an evaluation are not in order. Refuted: they are. Not exercised: there was no evaluation.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Call,
    Confidence,
    Editor,
    Fix,
    Found,
    Impact,
    Missing,
    Project,
    Purpose,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP217",
    name="eval-sampler-shuffled",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=("DistributedSampler",),
    discharged_by=frozenset({"lightning", "accelerate", "transformers", "ray"}),
    applicability=Applicability.SAFE,
    pedantic=True,
)
_DISTRIBUTED_SAMPLER = "torch.utils.data.distributed.DistributedSampler"


def check(script: Script, project: Project) -> Iterator[Found]:
    for call in project.calls(script, _DISTRIBUTED_SAMPLER):
        if not project.certainly(call.callee, _DISTRIBUTED_SAMPLER):
            continue
        if project.argument(call, "shuffle") is not Missing.ABSENT:
            continue
        if project.passes.purpose(project.trail(call)) is Purpose.EVALUATION:
            yield Found(
                call,
                "DistributedSampler shuffles unless told otherwise, and an evaluation needs no order: the samples "
                "that fill up the last batches are random ones, and outputs lose their places; pass shuffle=False",
                Confidence.POSSIBLE,
                subject=call,
            )


def fix(found: Found, edits: Editor) -> Fix | None:
    assert isinstance(found.subject, Call)
    changes = edits.insert_argument(found.subject.node, "shuffle=False")
    return Fix(Applicability.SAFE, "Pass shuffle=False", changes)
