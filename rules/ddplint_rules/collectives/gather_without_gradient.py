"""An all_gather between the model and the loss: the gradient ends there

## What it finds

`torch.distributed.all_gather`, or `all_gather_into_tensor`, of what a model gave, where a loss is computed from the
result and the values of the own rank are not put back into it.

It is silent under `no_grad`, for detached tensors, labels and the like, in functions that evaluate, in a
`torch.autograd.Function`, and for `torch.distributed.nn`, whose collectives have gradients. Where the values of the
own rank go into the loss on another way as well, so that a part of the gradient gets through, it is reported with
`--pedantic`: some losses are meant so.

## Why it matters

The collective copies numbers into tensors that know nothing of the model. A loss computed from them alone has no
gradient: backward fails, or, where anything else joins in, the model is trained by that alone, and a contrastive loss
goes down by nothing but the weight decay.

## Example

```python bad
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

dist.init_process_group("nccl")
encoder = nn.parallel.DistributedDataParallel(nn.Linear(16, 8))


def gather(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features)  #~ DDP506
    return torch.cat(parts)


def step(images, targets, optimizer):
    features = gather(encoder(images))
    loss = F.cross_entropy(features @ features.t(), targets)
    loss.backward()
    optimizer.step()
```

The own part is put back, so that the gradient of the own samples gets through:

```python good
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

dist.init_process_group("nccl")
encoder = nn.parallel.DistributedDataParallel(nn.Linear(16, 8))


def gather(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features)
    parts[dist.get_rank()] = features
    return torch.cat(parts)


def step(images, targets, optimizer):
    features = gather(encoder(images))
    loss = F.cross_entropy(features @ features.t(), targets)
    loss.backward()
    optimizer.step()
```

The collectives of `torch.distributed.nn` bring back the gradients from all ranks:

```python good
import torch
import torch.distributed.nn
import torch.nn.functional as F
from torch import nn

torch.distributed.init_process_group("nccl")
encoder = nn.parallel.DistributedDataParallel(nn.Linear(16, 8))


def step(images, targets, optimizer):
    features = torch.cat(torch.distributed.nn.all_gather(encoder(images)))
    loss = F.cross_entropy(features @ features.t(), targets)
    loss.backward()
    optimizer.step()
```

## Fix

None: to put the own part back and to exchange the gradients as well give different gradients, by a factor of the
number of ranks where the loss is averaged.

## At run time

Confirmed when what was gathered needs no gradient and the loss is computed from it while the model trains. Refuted
when it needs one. Not exercised when the line was not reached.

## References

- Autograd-enabled collectives:
  https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.nn.functional.all_gather
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Confidence, Found, Impact, Project, Role, Rule, Script, shown

RULE = Rule(
    code="DDP506",
    name="gather-without-gradient",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("all_gather",),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the gathers in which the gradient of a loss ends."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    for lost in project.lost_gradients.of(script):
        message = (
            f"`{shown(lost.loss)}` is computed from what `{shown(lost.gather)}` gives, through which no gradient comes "
            "back to the model; put the part of the own rank back (`parts[rank] = local`) or use "
            "`torch.distributed.nn.functional.all_gather`"
        )
        confidence = Confidence.POSSIBLE if lost.beside else Confidence.LIKELY
        yield Found(lost.gather, message, confidence, ((lost.loss, "the loss"),))
