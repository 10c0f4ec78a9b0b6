"""A model is trained through DataParallel: one process drives all GPUs, and one of them does most of the work

## What it finds

`torch.nn.DataParallel` around a module that is trained, in every form: assigned, chained with `.cuda()` or `.to()`,
kept on an attribute, around a part of a model, imported under another name. `torch.nn.parallel.data_parallel` and
classes of the project that derive from DataParallel count as well.

It is silent where the same file can also wrap in DistributedDataParallel, in tests, in code taken over from elsewhere,
and where code only asks whether it was given a DataParallel. A module that only evaluates, or for which no backward
pass can be found, is reported with `--pedantic`.

## Why it matters

In every step DataParallel copies the model from the first GPU to the others, splits the batch there, gathers the
outputs there and sums the gradients there. One Python process has to issue the work of all GPUs. The first GPU runs
out of memory before the others are full, the speed-up ends at a few GPUs, and a second machine can't take part at all.
Nothing warns of this: the training is right, only slow.

## Symptoms

- GPU 0 runs out of memory while the others have room
- GPU 0 is busy and the other GPUs wait
- training on more GPUs is hardly faster, or slower
- RuntimeError: module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one of them on
  device

## Example

```python bad
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

dataset = datasets.MNIST("data", transform=transforms.ToTensor())
loader = DataLoader(dataset, batch_size=256, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).cuda()
model = nn.DataParallel(model)  #~ DDP101
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(model(inputs.cuda()), targets.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

The script as the fix leaves it; `torchrun --nproc_per_node=4 train.py` starts one process for each GPU:

```python fixed
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from torch.utils.data.distributed import DistributedSampler
from torch.nn.parallel import DistributedDataParallel
import os
import sys
import torch.distributed as dist


def setup_distributed():
    \"\"\"Join the processes that torchrun started; without torchrun, be the only one.\"\"\"
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    if "LOCAL_RANK" in os.environ:
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group(backend)
    else:
        dist.init_process_group(backend, init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    if dist.get_rank() != 0:
        sys.stdout = open(os.devnull, "w")  # only the first process speaks


def share_of_batch(batch_size):
    \"\"\"Return how many samples of a batch each process takes.\"\"\"
    share, rest = divmod(batch_size, dist.get_world_size())
    if rest:
        raise ValueError(f"{dist.get_world_size()} processes can't share a batch of {batch_size} samples evenly")
    return share


setup_distributed()

dataset = datasets.MNIST("data", transform=transforms.ToTensor())
train_sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=share_of_batch(256), sampler=train_sampler)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).cuda()
model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    loader.sampler.set_epoch(epoch)
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(model(inputs.cuda()), targets.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

dist.barrier()
dist.destroy_process_group()
```

The same by hand, in a script that torchrun always starts:

```python good
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(dataset, epochs):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    model = nn.Linear(32, 10).to(local_rank)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=256 // dist.get_world_size(), sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            loss = nn.functional.cross_entropy(model(inputs.to(local_rank)), targets.to(local_rank))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()
```

## Fix

A move of the whole script, made only where it is proven that the numbers stay the same: the processes are joined at the
start, the model is wrapped once it is on its device, the loader gets a sampler and each process its share of the batch
and of the workers, numbers made of one process's samples are summed or averaged over all, one process writes, prints
and downloads for all, and what is decided by a measured value is decided by the first process. The learning rate stays
as it is, since the batch of all processes together is as large as before. `ddplint migrate --plan train.py` shows every
change with its reason and writes nothing.

It is safe where nothing is left to look at. It is unsafe with notes: seeds that reach the augmentation, class weights
or ignored targets in the loss, parameters that are not proven to get a gradient. It is refused, and the script stays
as it is, where a condition is not proven, such as a loader made in another file, a Trainer class, several wrapped
modules, a DataParallel class of its own, a `dim` other than 0, a loss over the whole batch; the plan names the line
and what helps.
With `--no-migrate`, `--fix` leaves these scripts alone.

## At run time

Confirmed when copying, scattering and gathering take a share of the step that can be measured, or the first GPU holds
clearly more memory than the others. Refuted when the script runs on one GPU. Not exercised when no step was taken.

## References

- "it is recommended to use DistributedDataParallel instead": https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
- Why, in numbers: https://docs.pytorch.org/docs/stable/notes/cuda.html#use-nn-parallel-distributeddataparallel-instead-of-multiprocessing-or-nn-dataparallel
- How to move: https://docs.pytorch.org/tutorials/beginner/ddp_series_multigpu.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Call,
    Confidence,
    DataParallelMove,
    DataParallelUse,
    Editor,
    Expression,
    Fix,
    Form,
    Found,
    Impact,
    Name,
    Project,
    Role,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP101",
    name="data-parallel",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("DataParallel", "data_parallel"),
    applicability=Applicability.SAFE,
)
RETURNS_SELF = frozenset({"cuda", "to", "cpu", "eval", "train", "half", "float", "double"})
COST = "one process drives all GPUs, and in every step the first of them copies the model out and gathers the results"
REMEDY = (
    "start one process per GPU with torchrun, call init_process_group, wrap in DistributedDataParallel(model, "
    "device_ids=[local_rank]), give the loader a DistributedSampler and each process its share of the batch"
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report every DataParallel that is not one of two ways that the file offers."""
    role = project.role(script)
    if role in (Role.TEST, Role.VENDORED):
        return
    uses = [use for use in project.data_parallel.of(script) if not project.data_parallel.tells_apart(use.call)]
    if not uses or project.data_parallel.has_ddp(script):
        return
    for use in uses:
        if _is_trained(use, role, project):
            yield _trained(use, project)
        else:
            yield _evaluated(use)


def _is_trained(use: DataParallelUse, role: Role, project: Project) -> bool:
    training = project.training
    if training.without_gradient(use.call) or project.data_parallel.evaluates(use):
        return False
    if role is Role.EVALUATION:
        return training.runs_backward(use.call)
    if project.data_parallel.evaluates_by_name(use) and not training.is_set_up_beside(use.call):
        return False
    return training.trains(use.call)


def _trained(use: DataParallelUse, project: Project) -> Found:
    obstacles = project.obstacles.of(use)
    message = f"{_what(use)} trains through {_through(use)}: {COST}; {REMEDY}"
    if obstacles:
        message += "; in the way: " + "; ".join(obstacle.text for obstacle in obstacles)
    related = tuple((obstacle.at, obstacle.text) for obstacle in obstacles if obstacle.at is not use.call)
    return Found(use.call, message, related=related, subject=DataParallelMove(project, use))


def fix(found: Found, edits: Editor) -> Fix | None:
    """Move the whole script to DistributedDataParallel, where it is proven that the numbers stay the same."""
    return found.subject.fix(edits) if isinstance(found.subject, DataParallelMove) else None


def _evaluated(use: DataParallelUse) -> Found:
    message = (
        f"{_what(use)} runs through {_through(use)}: {COST}; no backward pass was found, so evaluating on one GPU, "
    )
    message += "or a share of the data in each of several processes, does the same"
    return Found(use.call, message, Confidence.POSSIBLE)


def _what(use: DataParallelUse) -> str:
    shown = _shown(use.module)
    return f"`{shown}`" if shown else "a model"


def _through(use: DataParallelUse) -> str:
    return use.name if use.form is Form.OWN_CLASS else f"torch's {use.name}"


def _shown(module: Expression | None) -> str:
    """The dotted name of what is wrapped; a model that is made in place is named by its class."""
    if isinstance(module, Name):
        return module.id
    if isinstance(module, Attribute):
        base = _shown(module.base)
        return f"{base}.{module.name}" if base else ""
    if isinstance(module, Call):
        callee = module.callee
        return _shown(callee.base if isinstance(callee, Attribute) and callee.name in RETURNS_SELF else callee)
    return ""
