"""An attribute or method of the model asked of its wrapper, which does not have it

## What it finds

A method that is called, or an attribute that is read, on a model that DataParallel or DistributedDataParallel wraps,
when the class of the model defines it and the wrapper does not. Also a value that is assigned to the wrapper under a
name that the model's own methods read. The model is followed through names, attributes, functions and modules of the
project, in files that wrap a model.

It is silent for what every module has (`parameters`, `train`, `state_dict`), for the wrapper's own (`module`,
`no_sync`), for models whose class is not known, for wrapper classes of the project's own, for names that the script
itself puts into the wrapper, and in branches that may be taken only when nothing is wrapped.

## Why it matters

Reading fails with an AttributeError on the first run with several GPUs, though the same line works with one.
Assigning is worse: it creates an attribute of the wrapper, the model inside keeps its old value, and nothing says so.
A drop-path schedule that is written to the wrapper never changes anything.

## Symptoms

- AttributeError: 'DistributedDataParallel' object has no attribute

## Example

```python bad
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop_path = 0.0
        self.layer = nn.Linear(8, 8)

    def forward(self, inputs):
        return nn.functional.dropout(self.layer(inputs), self.drop_path)

    def frozen_names(self):
        return ["layer.bias"]


def train(epochs, local_rank):
    model = nn.parallel.DistributedDataParallel(Net().to(local_rank), device_ids=[local_rank])
    print(model.frozen_names())  #~ DDP111
    for epoch in range(epochs):
        model.drop_path = 0.2 * epoch / epochs  #~ DDP111
        train_epoch(model)
```

```python fixed
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop_path = 0.0
        self.layer = nn.Linear(8, 8)

    def forward(self, inputs):
        return nn.functional.dropout(self.layer(inputs), self.drop_path)

    def frozen_names(self):
        return ["layer.bias"]


def train(epochs, local_rank):
    model = nn.parallel.DistributedDataParallel(Net().to(local_rank), device_ids=[local_rank])
    print(model.module.frozen_names())
    for epoch in range(epochs):
        model.module.drop_path = 0.2 * epoch / epochs
        train_epoch(model)
```

What every module has can be asked of the wrapper:

```python good
import torch
from torch import nn


def make_optimizer(local_rank):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8), device_ids=[local_rank])
    model.train()
    return torch.optim.SGD(model.parameters(), lr=0.1)
```

## Fix

Safe where the model is wrapped on every run: `.module` is added, the line failed or had no effect before. There is no
fix where the model is wrapped only on some runs, and none for a method that runs layers of the model: called on the
module inside it would train past the wrapper (DDP107).

## At run time

Confirmed by the AttributeError. Refuted when the line runs without it. Not exercised when the line was not reached; an
assignment leaves no trace.

## References

- The same for DataParallel: https://docs.pytorch.org/tutorials/beginner/former_torchies/parallelism_tutorial.html
- DistributedDataParallel: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Access,
    Applicability,
    Confidence,
    Editor,
    Finding,
    Fix,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Script,
    Store,
    Trace,
    Verdict,
    ranks_named,
    shown,
)

RULE = Rule(
    code="DDP111",
    name="wrapped-attribute",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DataParallel",),
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what is asked of a wrapper and belongs to the model in it."""
    if project.role(script) is Role.TEST:
        return
    for access in project.wrapped_accesses.of(script):
        runs_layers = (
            access.call is not None
            and not project.training.without_gradient(access.call)
            and project.bypasses.runs_parameters(access.cls, access.name)
        )
        confidence = Confidence.CERTAIN if access.always else Confidence.LIKELY
        impact = Impact.WRONG if isinstance(access.at, Store) else Impact.CRASH
        subject = None if runs_layers or not access.always else access
        yield Found(access.at, _message(access, runs_layers), confidence, subject=subject, impact=impact)


def _message(access: Access, runs_layers: bool) -> str:
    model = shown(access.model)
    wrapper = access.wrapper.value
    wrapped = f"`{model}` is wrapped in {wrapper}" if access.always else f"`{model}` can be wrapped in {wrapper}"
    inside = f"`{model}.module.{access.name}`" + ("" if access.always else " on the runs that wrap")
    if isinstance(access.at, Store):
        return f"{wrapped}, so this sets `{access.name}` of the wrapper and the model never sees it; set {inside}"
    remedy = f"write {inside}"
    if runs_layers:
        remedy = f"run the method from the model's forward and call `{model}(...)`, so that gradients are exchanged"
    return f"{wrapped}, which has no `{access.name}`: AttributeError; {remedy}"


def fix(found: Found, edits: Editor) -> Fix | None:
    """Ask the model inside of the wrapper."""
    if not isinstance(found.subject, Access):
        return None
    access = found.subject
    changes = edits.insert_after(access.model.node, ".module")
    return Fix(Applicability.SAFE, f"Ask `{shown(access.model)}.module`, which has it", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for the AttributeError."""
    failed = [one for one in trace.failures if one["error"] == "AttributeError" and one.is_at(finding.lines)]
    if failed:
        ranks = ranks_named({one.rank or 0 for one in failed}, trace)
        return Verdict.confirmed(f"AttributeError on {ranks}", *{str(one["text"]).split("\n")[0] for one in failed})
    if finding.impact is Impact.WRONG:
        return Verdict.not_exercised("what is set on a wrapper leaves no trace in a run")
    return Verdict.refuted("the line ran without an error", *_came(finding, trace))


def _came(finding: Finding, trace: Trace) -> list[str]:
    return [f"rank {rank} came to it {count} times" for rank, count in trace.reached(finding.lines).items()]
