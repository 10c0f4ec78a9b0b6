"""An evaluation counts the samples twice with which the sampler fills up the last ranks

## What it finds

A `DistributedSampler` that shares an evaluation out, where what the ranks counted is added up by `all_reduce` or
`reduce` behind the loop, itself or through functions of the project.

It is silent with `drop_last=True`, where the code beside the sampler asks for the remainder of a length, where the
evaluation cuts what was gathered to a length or tells the samples apart (an id, `unique`), and where the number of
samples is known to be a multiple of 8. It is likely where the number is known and is none; where it is not known, the
finding is shown with `--pedantic` only.

## Why it matters

`DistributedSampler` gives every rank the same number of samples, and repeats the first ones where they don't come out
even. The sums count those twice: 21 images on two processes are reported as 22. The accuracy is a little wrong, and
another one with every number of processes, so that results of different machines can't be compared. Nothing warns.

## Symptoms

- accuracy differs a little with the number of GPUs
- more samples are counted than the dataset has

## Example

```python bad
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


@torch.no_grad()
def evaluate(model, loader):
    counts = torch.zeros(2)
    for images, labels in loader:
        counts[0] += (model(images).argmax(1) == labels).sum()
        counts[1] += len(labels)
    dist.all_reduce(counts)
    return counts[0] / counts[1]


def main(model):
    dist.init_process_group("gloo")
    valid_set = TensorDataset(torch.randn(1001, 6), torch.randint(0, 4, (1001,)))
    sampler = DistributedSampler(valid_set, shuffle=False)  #~ DDP206
    valid_loader = DataLoader(valid_set, batch_size=64, sampler=sampler)
    return evaluate(model, valid_loader)
```

A share without repeated samples; the ranks may have different numbers of batches, since nothing inside the loop waits
for the others:

```python good
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset, TensorDataset


@torch.no_grad()
def evaluate(model, loader):
    counts = torch.zeros(2)
    for images, labels in loader:
        counts[0] += (model(images).argmax(1) == labels).sum()
        counts[1] += len(labels)
    dist.all_reduce(counts)
    return counts[0] / counts[1]


def main(model):
    dist.init_process_group("gloo")
    valid_set = TensorDataset(torch.randn(1001, 6), torch.randint(0, 4, (1001,)))
    share = Subset(valid_set, range(dist.get_rank(), len(valid_set), dist.get_world_size()))
    valid_loader = DataLoader(share, batch_size=64)
    return evaluate(model, valid_loader)
```

## Fix

None: which cure fits depends on the evaluation. Ranks that may differ in their number of batches can take
`Subset(dataset, range(rank, len(dataset), world_size))`, unless the wrapped model exchanges buffers in its forward;
gathered outputs can be put in order and cut to `len(dataset)`.

## At run time

Confirmed when one index is evaluated twice in one evaluation. Refuted when every index comes once. Not exercised when
the number of samples was a multiple of the number of processes, or nothing was evaluated.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
- https://github.com/pytorch/vision/issues/4559
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import LOOP_DRIVERS, Confidence, Found, Impact, Project, Role, Rule, Script, written

RULE = Rule(
    code="DDP206",
    name="eval-padding",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DistributedSampler",),
    discharged_by=LOOP_DRIVERS,
)
# Most machines have 1, 2, 4 or 8 GPUs.
_COMES_OUT_EVEN = 8


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the samplers whose repeated samples are counted."""
    if project.role(script) is Role.TEST:
        return
    for padding in project.paddings.of(script):
        if padding.samples is not None and padding.samples % _COMES_OUT_EVEN == 0:
            continue
        yield Found(
            padding.sampler,
            "DistributedSampler repeats samples until every rank has equally many, and "
            f"`{written(padding.exchange.callee)}` counts them again: the result is off, and another one on every "
            "number of processes; share out without repeats, or cut the gathered outputs to the length of the dataset",
            Confidence.POSSIBLE if padding.samples is None else Confidence.LIKELY,
            related=((padding.exchange, "the ranks' counts are added up"), (padding.loader, "the evaluation's loader")),
        )
