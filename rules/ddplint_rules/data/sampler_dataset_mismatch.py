"""A sampler is made for another dataset than its loader reads

## What it finds

A `DistributedSampler`, `RandomSampler` or `SequentialSampler` that is made for one dataset and given to a loader that
reads another one: another object of a dataset class, or a subset on one side and the full set on the other
(`Subset`, `random_split`).

It is silent where the two can be the same object on some way, where one of them can't be followed to what made it,
where one is a wrapper around the other that may keep its length, and where the sampler is given something else than
a dataset, such as a list of indices.

## Why it matters

A sampler hands out numbers from 0 to the length of its own dataset. With a longer dataset in the loader the rest is
never seen; with a shorter one the loader raises IndexError in the middle of an epoch; with a subset the numbers mean
other samples than those that were picked, so a validation split leaks into the training. The first and the last are
silent.

## Symptoms

- IndexError: list index out of range in the dataset
- samples at the end of the dataset are never drawn

## Example

```python bad
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset
from torch.utils.data.distributed import DistributedSampler
from torchvision.datasets import CIFAR10


def train_loader(train_indices, transform):
    dist.init_process_group("nccl")
    everything = CIFAR10("data", transform=transform)
    train_set = Subset(everything, train_indices)
    sampler = DistributedSampler(train_set)  #~ DDP216
    return DataLoader(everything, batch_size=128, sampler=sampler)
```

```python good
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset
from torch.utils.data.distributed import DistributedSampler
from torchvision.datasets import CIFAR10


def train_loader(train_indices, transform):
    dist.init_process_group("nccl")
    everything = CIFAR10("data", transform=transform)
    train_set = Subset(everything, train_indices)
    sampler = DistributedSampler(train_set)
    return DataLoader(train_set, batch_size=128, sampler=sampler)
```

## Fix

None: which of the two datasets is meant can't be told.

## At run time

Confirmed: the length of the sampler's dataset differs from that of the loader's. Refuted: they are one object. Not
exercised: the loader was never made.

## References

- https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Expression,
    Found,
    Impact,
    Loader,
    Project,
    Rule,
    Sampler,
    SamplerKind,
    Script,
    last_name,
)

RULE = Rule(
    code="DDP216",
    name="sampler-dataset-mismatch",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("Sampler",),
)
_GIVEN_AS = {SamplerKind.DISTRIBUTED: "dataset", SamplerKind.RANDOM: "data_source", SamplerKind.IN_ORDER: "data_source"}


def check(script: Script, project: Project) -> Iterator[Found]:
    if not project.is_distributed(script):
        return
    for loader in project.loaders(script):
        read = loader.argument("dataset")
        if isinstance(read, Expression):
            yield from _mismatches(loader, read, project)


def _mismatches(loader: Loader, read: Expression, project: Project) -> Iterator[Found]:
    for sampler in loader.samplers:
        given = _dataset_of(sampler, project)
        if sampler.made is not None and given is not None and project.datasets.differ(given, read):
            yield Found(
                sampler.made,
                f"{last_name(sampler.made)} is made for another dataset than the loader reads: its indices miss "
                "samples or point to the wrong ones; give both the same dataset",
                related=((loader.call, "the loader"),),
            )


def _dataset_of(sampler: Sampler, project: Project) -> Expression | None:
    """Return the dataset that a sampler is made for."""
    parameter = _GIVEN_AS.get(sampler.kind)
    given = None if sampler.made is None or parameter is None else project.argument(sampler.made, parameter)
    return given if isinstance(given, Expression) else None
