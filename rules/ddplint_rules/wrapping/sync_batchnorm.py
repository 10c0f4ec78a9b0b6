"""BatchNorm that each process counts over its own few samples, in a model that all of them train together

## What it finds

DistributedDataParallel around a model that certainly holds BatchNorm, in a program that nowhere converts it to
SyncBatchNorm. It is likely wrong where the training loader of the file has a batch below 32 for each process, as far as
a constant or the default of an option says so. It is only possible, and shown with `--pedantic`, where the batch is not
known or larger.

It is silent for models that are not known, for layers that are chosen by a test, in programs that make or convert to
SyncBatchNorm anywhere, in groups for the CPU, for which there is none, and in evaluation and tests.

## Why it matters

BatchNorm takes mean and variance over the samples of its own process: over 8 of them with a batch of 8, whatever the
number of GPUs. The running statistics of the processes differ, and the checkpoint has those of the first. A batch that
is split over more GPUs makes it worse, though the batch of the job stays the same.

## Symptoms

- accuracy is lower on more GPUs with small batches
- BatchNorm statistics differ between the ranks

## Example

```python bad
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision.models import resnet50


def train(dataset, local_rank, step):
    loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset))
    model = resnet50().to(local_rank)
    model = DistributedDataParallel(model, device_ids=[local_rank])  #~ DDP104
    for epoch in range(10):
        loader.sampler.set_epoch(epoch)
        for images, labels in loader:
            step(model(images), labels).backward()
```

```python fixed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision.models import resnet50
import torch


def train(dataset, local_rank, step):
    loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset))
    model = resnet50().to(local_rank)
    model = DistributedDataParallel(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model), device_ids=[local_rank])
    for epoch in range(10):
        loader.sampler.set_epoch(epoch)
        for images, labels in loader:
            step(model(images), labels).backward()
```

```python good
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet50


def build(local_rank, synchronise):
    model = resnet50().to(local_rank)
    if synchronise:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=[local_rank])
```

## Fix

Unsafe: the model is converted before it is wrapped. Each layer then waits for all processes, which costs time, the
results change, and a model on the CPU can't be wrapped any more.

## At run time

Confirmed when the running statistics differ between the ranks after a step. Refuted when they are equal. Not exercised
when the layers did not train.

## References

- SyncBatchNorm: https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Call,
    Confidence,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Loader,
    Missing,
    Name,
    Project,
    Purpose,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP104",
    name="sync-batchnorm",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
    discharged_by=LOOP_DRIVERS,
    applicability=Applicability.UNSAFE,
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
START = "torch.distributed.init_process_group"
# Samples for each process from which on their own statistics are good enough.
ENOUGH = 32


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report wrapped models whose BatchNorm counts alone."""
    if project.role(script) is not Role.OTHER or _is_for_cpu(script, project):
        return
    for wrap in project.calls(script, WRAP):
        module = project.argument(wrap, "module")
        if isinstance(module, Missing) or not project.certainly(wrap.callee, WRAP):
            continue
        layer = project.normalisation.batch_norm_of(module)
        if layer is None or project.normalisation.is_synchronised(script) or not project.training.trains(wrap):
            continue
        batch = _batch(script, project)
        yield Found(
            wrap,
            _message(module, batch),
            Confidence.LIKELY if batch is not None and batch < ENOUGH else Confidence.POSSIBLE,
            related=((layer, "BatchNorm is made here"),) if layer.scope.script is script else (),
            subject=module,
        )


def _is_for_cpu(script: Script, project: Project) -> bool:
    backends = [project.argument(start, "backend") for start in project.calls(script, START)]
    return any(isinstance(backend, Constant) and backend.value == "gloo" for backend in backends)


def _batch(script: Script, project: Project) -> int | None:
    """Return the number of samples that each process trains with at a time, None when it is not known."""
    training = [loader for loader in project.loaders(script) if loader.purpose is Purpose.TRAINING]
    sizes = [_size(loader, project) for loader in training]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


def _size(loader: Loader, project: Project) -> int | None:
    given = loader.argument("batch_size")
    if isinstance(given, Missing) or loader.argument("batch_sampler") is not Missing.ABSENT:
        return None
    option = project.options.of(given)
    known = project.constants(given if option is None or option.default is None else option.default)
    sizes = [size for size in known or () if isinstance(size, int)]
    return sizes[0] if len(sizes) == 1 else None


def _message(module: Expression, batch: int | None) -> str:
    model = f"`{shown(module)}`" if isinstance(module, Name) else "the model"
    own = "its own samples" if batch is None else f"its own {batch} samples"
    return (
        f"each process counts the BatchNorm of {model} over {own} only, and the statistics of the first are saved; "
        "convert the model by nn.SyncBatchNorm.convert_sync_batchnorm before it is wrapped"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Convert the model where it is wrapped."""
    module = found.subject
    if not isinstance(module, Name | Call):
        return None
    text = f"torch.nn.SyncBatchNorm.convert_sync_batchnorm({edits.source_text(module.node)})"
    changes = (*edits.replace(module.node, text), *edits.add_import("import torch"))
    return Fix(Applicability.UNSAFE, "Convert BatchNorm to SyncBatchNorm", changes)
