"""A training forward past DistributedDataParallel: the gradients of each rank stay with it, and the models drift apart

## What it finds

A backward pass that comes from `model.module(...)`, `model.module.forward(...)`, or a method of the model inside that
runs its layers, where `model` is wrapped in DistributedDataParallel. The inside is also recognised under another name
(`raw = model.module if hasattr(model, "module") else model`) and when it is handed to a function.

It is silent without a gradient (`no_grad`, `detach`, a decorated method), for state, attributes and averages of
weights, for methods that run no layer, for DataParallel, where the wrapper is called as well in the function (its
forward arms the exchange), and where the script exchanges the gradients itself.

## Why it matters

DDP exchanges gradients only for a backward pass that began in its own forward. Past it, each rank steps with the
gradients of its own batch. Nothing fails and the loss goes down, but the ranks train different models, and what is
saved is the model of one rank, trained on its share of the data.

## Symptoms

- the ranks have different weights although the model is wrapped
- gradients are not exchanged between the GPUs
- loss differs between ranks and does not come down

## Example

```python bad
import torch
import torch.distributed as dist
from torch import nn


def train(loader, optimizer):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model.module(inputs), targets)  #~ DDP107
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

```python fixed
import torch
import torch.distributed as dist
from torch import nn


def train(loader, optimizer):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

Evaluating and saving go past the wrapper by right:

```python good
import torch
from torch import nn


def finish(loader, path):
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    with torch.no_grad():
        outputs = [model.module(inputs) for inputs in loader]
    torch.save(model.module.state_dict(), path)
    return outputs
```

## Fix

Unsafe, for `model.module(...)` and `model.module.forward(...)`: the call goes through the wrapper. The training
changes, which is the point of it, and the wrapper's forward raises an error when a parameter has no part in the loss.
A method of the model inside has to be called from its `forward`, which no fix can write.

## At run time

Confirmed when a forward with gradients passes the wrapper by here, and the parameters of the ranks differ after a step,
or no collective runs between two steps. Refuted when they stay equal. Not exercised when no step was taken.

## References

- "DDP relies on ... forward": https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design
- DistributedDataParallel: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Bypass,
    Editor,
    Event,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
    ranks_named,
    shown,
)

RULE = Rule(
    code="DDP107",
    name="module-bypass",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("backward",),
    everyday=True,
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the calls past a wrapper that a backward pass comes from."""
    if project.role(script) is Role.TEST:
        return
    for function in (None, *script.functions):
        for bypass in project.bypasses.of(function, script):
            yield Found(
                bypass.call, _message(bypass), related=((bypass.backward, "the backward pass"),), subject=bypass
            )


def _message(bypass: Bypass) -> str:
    called, wrapped = shown(bypass.call), shown(bypass.wrapped)
    if _is_method(bypass):
        remedy = f"run the method from the model's forward and call `{wrapped}(...)`"
    else:
        remedy = f"call `{wrapped}(...)`"
    return (
        f"`{called}` trains past DistributedDataParallel: the gradients are never exchanged, and each rank trains "
        f"a model of its own; {remedy}"
    )


def _is_method(bypass: Bypass) -> bool:
    callee = bypass.call.callee
    return isinstance(callee, Attribute) and callee.name not in ("module", "forward")


def fix(found: Found, edits: Editor) -> Fix | None:
    """Call the wrapper."""
    assert isinstance(found.subject, Bypass)
    bypass = found.subject
    if not bypass.direct:
        return None
    wrapper = edits.source_text(bypass.wrapped.node)
    changes = edits.replace(bypass.call.callee.node, wrapper)
    message = f"Call `{wrapper}`, so that the gradients are exchanged; its forward fails when a parameter is not used"
    return Fix(Applicability.UNSAFE, message, changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the parameters of the ranks after the steps that follow such a forward."""
    past = [one for one in trace.below(finding.lines, Kind.FORWARD) if one["past"] == "ddp" and one["grad"]]
    if trace.world_size < 2 or not past:
        return Verdict.not_exercised("no rank trained past a wrapper here")
    steps = trace.steps_together()
    if not steps:
        return Verdict.not_exercised("no optimizer step was made")
    evidence = [f"{ranks_named({one.rank or 0 for one in past}, trace)} ran {past[0]['module']} past the wrapper"]
    if trace.divergence is not None:
        differ = [f"rank {step.rank}: checksum {step['checksum']} ({step.at})" for step in trace.divergence]
        number = trace.divergence[0]["number"]
        return Verdict.confirmed(f"the parameters of the ranks differ after step {number}", *evidence, *differ)
    if len(steps) > 1 and _exchanged(steps[0][0], steps[-1][0]) == 0:
        return Verdict.confirmed(f"no collective ran between steps 1 and {len(steps)}", *evidence)
    return Verdict.refuted(f"the parameters of the ranks were equal after each of {len(steps)} steps", *evidence)


def _exchanged(first: Event, last: Event) -> int | None:
    """How many collectives a rank made between two steps, None where torch does not tell."""
    if first["sequence"] is None or last["sequence"] is None:
        return None
    return int(last["sequence"] - first["sequence"])
