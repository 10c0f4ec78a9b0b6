"""Losses gathered over the steps with their graphs, so that every step takes more memory than the one before

## What it finds

`total += loss`, `total = total + loss`, `stats["loss"] += loss` and `losses.append(loss)` in the loop of training
steps, where the same loss has its own backward pass in the same round, in a program that trains with several processes.
The loop over the parts of one batch, in which no optimizer steps, does not count.

It is silent for `loss.item()`, `loss.detach()` and `float(loss)`, for a sum that a backward pass goes through (the
joint loss of several tasks or micro-batches), for one that is begun anew in the loop, for queues of a fixed length, and
where the graph is kept on purpose (`retain_graph=True`).

## Why it matters

A loss holds on to the graph of the whole forward pass. After the backward pass the activations are gone, but the nodes
stay, about a kilobyte for each operation of the model, for as long as the sum lives. The memory of every process grows
with each step, by gigabytes an epoch for a large model, and freeing the chain at once stops the ranks for a while.

## Symptoms

- memory grows in every step
- CUDA out of memory after some hundred steps

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    total = 0.0
    for inputs, targets in loader:
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss * len(targets)  #~ DDP711
    return total / len(loader)
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    total = 0.0
    for inputs, targets in loader:
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(targets)
    return total / len(loader)
```

A sum that the backward pass goes through needs its graphs:

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, heads):
    model = DistributedDataParallel(model)
    running = 0.0
    for inputs, targets in loader:
        joint = 0.0
        for head in heads:
            joint = joint + head(model(inputs), targets)
        optimizer.zero_grad()
        joint.backward()
        optimizer.step()
        running += joint.item()
    return running / len(loader)
```

## Fix

Safe: `.detach()` takes the value without its graph, and does not wait for the GPU as `.item()` would. The backward pass
of the round has freed the graph, so that no gradient could be taken of the sum anyway.

## At run time

Confirmed when the number of graph nodes that are alive, or the memory of the process, grows by a like amount in each
step. Refuted when it stays the same.

## References

- "Don't accumulate history across your training loop":
  https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory
- `Tensor.detach`: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Applicability, Editor, Fix, Found, Impact, KeptGraph, Project, Role, Rule, Script

RULE = Rule(
    code="DDP711",
    name="loss-graph-kept",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("backward",),
    everyday=True,
    applicability=Applicability.SAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the losses that are gathered with their graphs."""
    if project.role(script) is Role.TEST:
        return
    for kept in project.kept_graphs.of(script):
        yield Found(kept.loss, _message(kept), related=((kept.backward, "the backward pass"),), subject=kept)


def _message(kept: KeptGraph) -> str:
    loss, gatherer = kept.loss.id, kept.gatherer.id
    return (
        f"`{gatherer}` keeps the graph of every step's `{loss}`, and the memory of each process grows from step to "
        f"step; add `{loss}.detach()`"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Gather the value alone."""
    assert isinstance(found.subject, KeptGraph)
    loss = found.subject.loss
    return Fix(Applicability.SAFE, f"Gather `{loss.id}` without its graph", edits.insert_after(loss.node, ".detach()"))
