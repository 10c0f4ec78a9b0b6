"""Every rank trains on the whole dataset, because its loader has no distributed sampler

## What it finds

A `DataLoader` without a sampler whose batches train a model that several processes train together: the loop that
runs over it calls a model in `DistributedDataParallel` (or FSDP), or gives its gradients to `all_reduce`, and comes
to a backward pass. Loader and model are followed through names, attributes, containers, helpers and other files.

It is silent where the dataset may already be a share of its own: the rank or the world size has a part in it
(`indices[rank::world_size]`, `split_dataset_by_node`, `.shard(…)`, a dataset class that asks for its rank). It is
silent for a loader of one rank, for the branch of a run with a single process, for loaders that can get a sampler on
some way, for evaluation, for an `IterableDataset` (see DDP209), for datasets that hand out something else whatever
the index is or that each process fills by itself (rollouts), and in projects whose framework puts the sampler in.
Where the dataset, the model or what lies around the loader can't be seen, the finding is shown with `--pedantic`.

## Why it matters

Every process goes through the whole dataset in each epoch. With N processes the job does N times the work for the
same number of passes over the data, so adding GPUs shortens nothing; where the ranks shuffle with the same seed they
even compute the same gradients. No warning tells of it: loss and accuracy look fine.

## Symptoms

- every GPU trains on all of the data
- an epoch takes as long on four GPUs as on one
- the same samples on several ranks

## Example

```python bad
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10


def main(model, optimizer, criterion, transform, epochs):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    dataset = CIFAR10("data", transform=transform)
    loader = DataLoader(dataset, batch_size=128, shuffle=True, num_workers=4)  #~ DDP201
    for epoch in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            criterion(model(images), labels).backward()
            optimizer.step()
```

```python fixed
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torch.utils.data.distributed import DistributedSampler


def main(model, optimizer, criterion, transform, epochs):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    dataset = CIFAR10("data", transform=transform)
    loader = DataLoader(dataset, batch_size=128, sampler=DistributedSampler(dataset), num_workers=4)
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            criterion(model(images), labels).backward()
            optimizer.step()
```

A dataset that was split by hand needs no sampler:

```python good
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Subset
from torchvision.datasets import CIFAR10


def main(model, optimizer, criterion, transform, epochs):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    everything = CIFAR10("data", transform=transform)
    dataset = Subset(everything, range(dist.get_rank(), len(everything), dist.get_world_size()))
    loader = DataLoader(dataset, batch_size=128, shuffle=True, num_workers=4)
    for epoch in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            criterion(model(images), labels).backward()
            optimizer.step()
```

## Fix

Safe, where the process group is started on every way to the loader and the epoch loop is in view: the loader gets a
`DistributedSampler`, which takes over `shuffle`, and `set_epoch` becomes the first statement of the epoch loop. The
fix is left out where the loop does not count with `range`, where the loader has no name in it, or where the call
gives a `generator` or arguments that can't be read.

## At run time

Confirmed: several ranks train on passes over the loader, and each pass goes through the whole dataset. Refuted: each
goes through a part of it. Not exercised: no two ranks trained on a pass.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
- https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Argument,
    Attribute,
    Call,
    Confidence,
    Constant,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Loader,
    Loop,
    Missing,
    Name,
    Project,
    RegionKind,
    Repeat,
    Rule,
    SamplerKind,
    Script,
    Share,
    Trace,
    Verdict,
    ranks_named,
)

RULE = Rule(
    code="DDP201",
    name="missing-distributed-sampler",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DataLoader",),
    discharged_by=LOOP_DRIVERS,
    applicability=Applicability.SAFE,
)
_IMPORT = "from torch.utils.data.distributed import DistributedSampler"
_HOMES = ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler")
_WITHOUT = ("sampler", "batch_sampler", "generator")


@dataclass(frozen=True, slots=True)
class _Epoch:
    """Where and how ``set_epoch`` is to be called."""

    loop: Loop
    loader: str
    counter: str


@dataclass(frozen=True, slots=True)
class _Mend:
    """What the fix changes.

    ``shuffle`` is the argument that the sampler replaces, ``epoch`` is None where the order never changes, and
    ``sampler`` is the name under which the file has DistributedSampler.
    """

    call: Call
    dataset: Expression
    shuffle: Argument | None
    epoch: _Epoch | None
    sampler: str | None


def check(script: Script, project: Project) -> Iterator[Found]:
    if not project.is_distributed(script):
        return
    for loader in project.loaders(script):
        dataset = loader.argument("dataset")
        if not loader.is_torchs or {found.kind for found in loader.samplers} != {SamplerKind.NONE}:
            continue
        if isinstance(dataset, Expression) and not project.datasets.is_iterable(dataset):
            yield from _unshared(loader, dataset, project)


def _unshared(loader: Loader, dataset: Expression, project: Project) -> Iterator[Found]:
    share = project.datasets.share(dataset)
    together = False if share is Share.OWN else project.feeding.trains_together(loader)
    if together is False:
        return
    sure = together and share is Share.WHOLE
    yield Found(
        loader.call,
        "this training loader has no sampler that shares its dataset out: every rank goes through all of it in each "
        "epoch, so the processes repeat each other's work; give it a DistributedSampler and call set_epoch",
        Confidence.LIKELY if sure else Confidence.POSSIBLE,
        subject=_mend(loader, dataset, project) if sure else None,
    )


def _mend(loader: Loader, dataset: Expression, project: Project) -> _Mend | None:
    call = loader.call
    if not isinstance(dataset, Name | Attribute) or not project.processes.certainly_started(call):
        return None
    if any(loader.argument(name) is not Missing.ABSENT for name in _WITHOUT):
        return None
    value = loader.argument("shuffle")
    shuffle = next((given for given in call.arguments if given.value is value and given.keyword), None)
    if value is not Missing.ABSENT and (shuffle is None or not _is_flag(shuffle.value)):
        return None
    epochs: set[_Epoch | None] = set()
    if shuffle is not None and not _keeps_order(shuffle):
        epochs = {_epoch(call, repeat, project) for repeat in project.passes.repeats(loader.trail)}
    if len(epochs) > 1 or None in epochs or not loader.trail.complete:
        return None
    return _Mend(call, dataset, shuffle, next(iter(epochs), None), _imported_as(call.scope.script))


def _is_flag(value: Expression) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, bool)


def _keeps_order(shuffle: Argument) -> bool:
    return isinstance(shuffle.value, Constant) and not shuffle.value.value


def _epoch(loader: Call, repeat: Repeat, project: Project) -> _Epoch | None:
    name, counter = project.epochs.known_as(loader, repeat), project.epochs.counter(repeat.loop)
    return None if name is None or counter is None else _Epoch(repeat.loop, name, counter)


def _imported_as(script: Script) -> str | None:
    """Return the name under which a file imports DistributedSampler in any case, None when it does not."""
    for name in sorted(script.imported_as.get("DistributedSampler", ())):
        bindings = script.scope.bindings.get(name, [])
        if len(bindings) == 1 and bindings[0].region.kind is RegionKind.MODULE and bindings[0].imported in _HOMES:
            return name
    return None


def fix(found: Found, edits: Editor) -> Fix | None:
    mend = found.subject
    if not isinstance(mend, _Mend):
        return None
    dataset = edits.source_text(mend.dataset.node)
    in_order = mend.shuffle is None or _keeps_order(mend.shuffle)
    sampler = f"{mend.sampler or 'DistributedSampler'}({dataset}{', shuffle=False' if in_order else ''})"
    changes = () if mend.sampler else edits.add_import(_IMPORT)
    if mend.shuffle is None or mend.shuffle.node.keyword is None:
        changes += edits.insert_argument(mend.call.node, f"sampler={sampler}")
    else:
        changes += edits.replace(mend.shuffle.node.keyword, "sampler")
        changes += edits.replace_argument(mend.shuffle.node, sampler)
    if mend.epoch is not None:
        line = f"{mend.epoch.loader}.sampler.set_epoch({mend.epoch.counter})"
        changes += edits.insert_first_in_block(mend.epoch.loop.node, [line])
    return Fix(Applicability.SAFE, "Share the dataset out with a DistributedSampler", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare what each rank goes through in a pass with the size of the dataset."""
    if trace.world_size < 2:
        return Verdict.not_exercised("the run had one process")
    trained = {one.rank: one for one in trace.passes_of_loader(finding.lines) if one.steps and one.rank is not None}
    if len(trained) < 2:
        return Verdict.not_exercised("no two ranks trained on a pass over this loader")
    loaders = {rank: one.loader for rank, one in trained.items() if one.loader is not None}
    evidence = [
        f"rank {rank}: {loader['share']} of {loader['samples']} samples in a pass, "
        f"beginning with {' '.join(map(str, (trained[rank].first or ())[:8]))}"
        for rank, loader in sorted(loaders.items())
    ]
    if all(loader["samples"] and loader["share"] == loader["samples"] for loader in loaders.values()):
        every = ranks_named(loaders, trace)
        return Verdict.confirmed(f"{every} go through all of the dataset in each epoch", *evidence)
    return Verdict.refuted("each rank goes through a part of the dataset", *evidence)
