"""A wrapped model with BatchNorm that is called twice before one backward pass

## What it finds

Two calls of a model in DistributedDataParallel, or one call in a loop, whose results meet in one loss, as when a
discriminator judges real and generated images, or both views of a contrastive batch go through one encoder. The model
certainly holds BatchNorm.

It holds for torch before 2.13, and says nothing in projects that are for newer ones only. It is silent where the
wrapper does not exchange buffers (`broadcast_buffers=False`), for calls without a gradient or whose result is detached,
where a backward pass stands between the calls, for models without BatchNorm, and where the program has synchronised
BatchNorm, which keeps no buffer for its backward pass.

## Why it matters

Every forward of the wrapper first copies the buffers of the first rank into those of all others, in place, also in
evaluation mode. The backward pass of the first call still needs its running statistics, finds them changed and fails
on every rank: "one of the variables needed for gradient computation has been modified by an inplace operation". One
process without the wrapper runs the same script without an error.

Seen on two ranks: torch 2.11 fails in the first step. Torch 2.13, which hides the copy from autograd, does not, and the
gradients of the ranks are equal.

## Example

```python bad
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

critic = nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
critic = DistributedDataParallel(critic)  #~ DDP117


def step(real, fake, optimizer):
    loss = critic(fake.detach()).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

```python fixed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

critic = nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
critic = DistributedDataParallel(critic, broadcast_buffers=False)


def step(real, fake, optimizer):
    loss = critic(fake.detach()).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

One call with both batches exchanges once, and counts BatchNorm over both:

```python good
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

critic = nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
critic = DistributedDataParallel(critic)


def step(real, fake, optimizer):
    on_fake, on_real = critic(torch.cat([fake.detach(), real])).chunk(2)
    loss = on_fake.mean() - on_real.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

## Fix

Unsafe, where the wrapper is made in the same file: `broadcast_buffers=False`. It has a price: each rank then keeps the
running statistics of its own samples, and what is saved are those of one rank.

## At run time

Confirmed by the RuntimeError in the backward pass. Refuted when a backward pass follows two forward passes without it.

## References

- `broadcast_buffers`: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
- Two forward passes with BatchNorm: https://github.com/pytorch/pytorch/issues/22095
- The change in torch: https://github.com/pytorch/pytorch/pull/175851
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Call,
    Editor,
    Fix,
    Found,
    Impact,
    Missing,
    Project,
    RepeatedForward,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP117",
    name="two-forwards-one-backward",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("backward",),
    everyday=True,
    applicability=Applicability.UNSAFE,
    torch_before=(2, 13),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the models that run forward again while a backward pass is still to come."""
    if project.role(script) is Role.TEST:
        return
    said: set[int] = set()
    for function in (None, *script.functions):
        for found in project.repeated_forwards.of(function, script):
            here = found.wrap.scope.script is script
            at = found.wrap if here else found.second
            if id(at) not in said:
                said.add(id(at))
                yield Found(at, _message(found), related=_related(found, script), subject=(found, project, here))


def _message(found: RepeatedForward) -> str:
    times = "in a loop" if found.first is found.second else "twice"
    return (
        f"`{shown(found.second.callee)}` is called {times} before one backward pass: each call copies the buffers of "
        'its BatchNorm anew, and torch before 2.13 fails with "modified by an inplace operation"; give both batches '
        "to one call, or wrap it with `broadcast_buffers=False`, which keeps the statistics of each rank apart"
    )


def _related(found: RepeatedForward, script: Script) -> tuple[tuple[Call, str], ...]:
    places = [(found.first, "called here"), (found.second, "and here"), (found.backward, "the backward pass")]
    if found.first is found.second:
        del places[1]
    return tuple((call, note) for call, note in places if call.scope.script is script)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Let the wrapper leave the buffers alone."""
    assert isinstance(found.subject, tuple)
    repeated, project, here = found.subject
    assert isinstance(repeated, RepeatedForward)
    assert isinstance(project, Project)
    if not here or project.argument(repeated.wrap, "broadcast_buffers") is not Missing.ABSENT:
        return None
    changes = edits.insert_argument(repeated.wrap.node, "broadcast_buffers=False")
    return Fix(Applicability.UNSAFE, "Leave the buffers of each rank alone", changes)
