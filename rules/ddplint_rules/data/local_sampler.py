"""A training loader's sampler draws from the whole dataset on every rank

## What it finds

A `RandomSampler`, `WeightedRandomSampler`, `SubsetRandomSampler` or `SequentialSampler`, also inside a `BatchSampler`,
of a loader whose batches train a model that several processes train together.

It is silent where the rank or the world size has a part in what the sampler is given (its indices, `num_samples`, the
generator) or in the dataset, where the loader can get a distributed sampler on some way, for a loader of one rank, for
the branch of a run with a single process, for evaluation, and in projects whose framework replaces samplers. Where
the dataset, the model or what lies around the loader can't be seen, the finding is shown with `--pedantic`.

## Why it matters

These samplers know nothing of the other processes: each rank draws an epoch's worth of samples from the whole
dataset. N processes do N times the work of an epoch, and where they seed alike they draw the same samples. No warning
tells of it.

## Symptoms

- every GPU trains on all of the data
- the same samples on several ranks

## Example

```python bad
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def main(model, optimizer, criterion, samples, labels, weights):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    dataset = TensorDataset(samples, labels)
    balanced = WeightedRandomSampler(weights, num_samples=len(dataset))  #~ DDP212
    loader = DataLoader(dataset, batch_size=32, sampler=balanced)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
```

Draws with replacement can simply be shared out, with a generator of its own on each rank:

```python good
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def main(model, optimizer, criterion, samples, labels, weights):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    dataset = TensorDataset(samples, labels)
    generator = torch.Generator().manual_seed(dist.get_rank())
    draws = len(dataset) // dist.get_world_size()
    balanced = WeightedRandomSampler(weights, num_samples=draws, generator=generator)
    loader = DataLoader(dataset, batch_size=32, sampler=balanced)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
```

## Fix

None: whether the draws are to be shared out, or a `DistributedSampler` is to take their place, is a question of what
the sampler is there for.

## At run time

Confirmed: the steps of an epoch are as many as with one process, or two ranks consume the same samples within it.
Refuted: the ranks' samples don't overlap. Not exercised: the run ended within the first epoch.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler
- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Call,
    Confidence,
    Expression,
    Found,
    Impact,
    Loader,
    Project,
    Rule,
    SamplerKind,
    Script,
    Share,
    last_name,
)

RULE = Rule(
    code="DDP212",
    name="local-sampler",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DataLoader",),
    discharged_by=LOOP_DRIVERS,
)
_LOCAL = frozenset({SamplerKind.RANDOM, SamplerKind.IN_ORDER})


def check(script: Script, project: Project) -> Iterator[Found]:
    if not project.is_distributed(script):
        return
    for loader in project.loaders(script):
        kinds = {found.kind for found in loader.samplers}
        if loader.is_torchs and kinds & _LOCAL and kinds <= _LOCAL | {SamplerKind.NONE}:
            yield from _local(loader, project)


def _local(loader: Loader, project: Project) -> Iterator[Found]:
    dataset = loader.argument("dataset")
    share = project.datasets.share(dataset) if isinstance(dataset, Expression) else Share.UNKNOWN
    samplers = [found.made for found in loader.samplers if found.made is not None]
    if share is Share.OWN or any(_is_shared(sampler, project) for sampler in samplers):
        return
    together = project.feeding.trains_together(loader)
    if together is False:
        return
    for sampler in samplers:
        yield Found(
            sampler,
            f"{last_name(sampler)} draws from the whole dataset on every rank: an epoch is as long as with one "
            "process, and the ranks repeat each other's samples; share the indices out by rank",
            Confidence.LIKELY if together and share is Share.WHOLE else Confidence.POSSIBLE,
            related=((loader.call, "the training loader that it is given to"),),
        )


def _is_shared(sampler: Call, project: Project) -> bool:
    """Whether the rank or the world size has a part in what a sampler is given."""
    return any(project.rank_parts.shares(given.value) for given in sampler.arguments)
