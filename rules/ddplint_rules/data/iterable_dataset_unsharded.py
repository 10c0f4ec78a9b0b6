"""An iterable dataset hands every rank the same samples

## What it finds

A `DataLoader` over an `IterableDataset` of the project, or over `datasets.load_dataset(…, streaming=True)`, whose
batches train a model that several processes train together, where nothing about the dataset asks for the rank or the
world size: neither its methods and what they call, nor what it is made from. Asking for the worker only
(`get_worker_info`) shares the samples out inside one process, not between the processes.

It is silent where the loader has a `worker_init_fn`, for a loader of one rank, for the branch of a run with a single
process, and in projects whose framework shares the dataset out. Where the dataset draws random numbers, which may be
other ones on each rank, the finding is shown with `--pedantic`.

## Why it matters

A loader can't give an `IterableDataset` a sampler: each process iterates over a copy of the dataset from its
beginning. If the dataset does not skip what belongs to others, all ranks train on the same samples in the same order,
and N GPUs compute the same gradients N times. No warning tells of it.

## Symptoms

- an iterable dataset gives the same samples to every rank or worker

## Example

```python bad
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, path, encode):
        self.path = path
        self.encode = encode

    def __iter__(self):
        with open(self.path) as lines:
            yield from map(self.encode, lines)


def main(model, optimizer, encode):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    loader = DataLoader(Lines("corpus.txt", encode), batch_size=8)  #~ DDP209
    for tokens in loader:
        optimizer.zero_grad()
        model(tokens).mean().backward()
        optimizer.step()
```

```python good
from itertools import islice

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, path, encode):
        self.path = path
        self.encode = encode

    def __iter__(self):
        with open(self.path) as lines:
            own = islice(lines, dist.get_rank(), None, dist.get_world_size())
            yield from map(self.encode, own)


def main(model, optimizer, encode):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    loader = DataLoader(Lines("corpus.txt", encode), batch_size=8)
    for tokens in loader:
        optimizer.zero_grad()
        model(tokens).mean().backward()
        optimizer.step()
```

## Fix

None: which samples a rank is to take, and what happens when they don't divide evenly, depends on the dataset.

## At run time

Confirmed: two ranks consume the same samples. Refuted: their samples differ. Not exercised: no batch was taken.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
- https://huggingface.co/docs/datasets/use_with_pytorch#distributed
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import LOOP_DRIVERS, Confidence, Expression, Found, Impact, Loader, Project, Rule, Script, Share

RULE = Rule(
    code="DDP209",
    name="iterable-dataset-unsharded",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DataLoader",),
    discharged_by=LOOP_DRIVERS,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    if not project.is_distributed(script):
        return
    for loader in project.loaders(script):
        dataset = loader.argument("dataset")
        if isinstance(dataset, Expression) and loader.is_torchs and project.datasets.is_iterable(dataset):
            yield from _unsharded(loader, dataset, project)


def _unsharded(loader: Loader, dataset: Expression, project: Project) -> Iterator[Found]:
    share = project.datasets.share(dataset)
    together = False if share is Share.OWN else project.feeding.trains_together(loader)
    if together is False or isinstance(loader.argument("worker_init_fn"), Expression):
        return
    classes = project.datasets.classes(dataset)
    random = project.datasets.draws(dataset)
    yield Found(
        loader.call,
        "this iterable dataset never asks for the rank: every rank trains on the same samples; "
        "let each rank take its own share, as in itertools.islice(samples, rank, None, world_size)",
        Confidence.LIKELY if together and not random else Confidence.POSSIBLE,
        related=tuple((cls.node, "the dataset") for cls in classes if cls.scope.script is loader.call.scope.script),
    )
