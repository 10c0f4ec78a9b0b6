"""A shuffling DistributedSampler is run over every epoch, and nobody ever calls its `set_epoch`

## What it finds

A `DistributedSampler`, or a sampler class that draws its order from `self.epoch`, which shuffles, whose loader is run
over again and again to train, and on which `set_epoch` is never called. The sampler and its loader are followed
through names, dicts, attributes, helpers, batch samplers and other files; the loop may stand anywhere.

It is silent for `shuffle=False`, for a single pass, for loaders that evaluate, for samplers that count their epochs
themselves, in projects whose framework calls `set_epoch`, and wherever the sampler goes out of sight in a program in
which somebody calls `set_epoch`. Where it is not certain that the sampler shuffles, that its loader trains or that it
is run over more than once, the finding is shown with `--pedantic`.

## Why it matters

The sampler shuffles with `seed + epoch`, and the epoch stays 0 until `set_epoch` changes it. Every epoch then brings
the same samples in the same batches in the same order, and each rank sees the same share of the dataset for ever. No
warning tells of it; the model only generalises worse.

## Example

```python bad
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, optimizer, epochs):
    sampler = DistributedSampler(dataset)  #~ DDP202
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        for inputs, targets in loader:
            loss = model(inputs, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
```

```python fixed
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, dataset, optimizer, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            loss = model(inputs, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
```

The sampler can be reached through its loader, and the call can stand elsewhere:

```python good
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, model, dataset, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))

    def fit(self, epochs):
        for epoch in range(epochs):
            self.loader.sampler.set_epoch(epoch)
            self.train_one_epoch()

    def train_one_epoch(self):
        for inputs, targets in self.loader:
            self.optimizer.zero_grad()
            self.model(inputs, targets).backward()
            self.optimizer.step()
```

## Fix

Safe, where the sampler (or a loader made with it) has a name in the function of the epoch loop and that loop counts
with `range`: the call becomes the first statement of the loop, under `if sampler is not None:` where the sampler can
be None. Only the order of the samples changes. Elsewhere there is no fix, because the place for the call is a matter
of taste.

## At run time

Confirmed: the index order of a later epoch equals that of the first, on every rank. Refuted: it differs. Not
exercised: the run had one epoch.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    BindingKind,
    Call,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Loop,
    Project,
    Purpose,
    Repeat,
    Rule,
    Script,
    Trail,
    in_reach,
)

RULE = Rule(
    code="DDP202",
    name="missing-set-epoch",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("Sampler",),
    discharged_by=frozenset(
        {
            *("lightning", "accelerate", "transformers", "ignite", "mmengine", "fastai", "ray", "speechbrain"),
            *("fairseq", "detectron2", "megatron"),
        }
    ),
    applicability=Applicability.SAFE,
)


@dataclass(frozen=True, slots=True)
class Missed:
    """The loop that lacks the call, what to call ``set_epoch`` on there, and with what; ``or_none``: it can be None."""

    loop: Loop
    counter: str
    sampler: str
    or_none: bool


def check(script: Script, project: Project) -> Iterator[Found]:
    for call in script.calls:
        if project.samplers.awaits_epoch(call) and project.samplers.shuffles(call) is not False:
            yield from _missing(call, project)


def _missing(call: Call, project: Project) -> Iterator[Found]:
    trail = project.trail(call)
    if any(trail.reads("set_epoch")):
        return
    if not trail.complete and project.mentions(call.scope.script, (b"set_epoch",)):
        return
    purpose = project.passes.purpose(trail)
    if purpose is Purpose.EVALUATION:
        return
    repeat = next(project.passes.repeats(trail), None)
    if repeat is None and trail.complete:
        return
    sure = repeat is not None and purpose is Purpose.TRAINING and project.samplers.shuffles(call) is True
    confidence = Confidence.LIKELY if sure else Confidence.POSSIBLE
    missed = None if repeat is None else _missed(trail, repeat, project)
    sampler = "set_epoch" if missed is None else f"{missed.sampler}.set_epoch"
    related = () if repeat is None else ((repeat.loop, "the loop that runs over its data again and again"),)
    yield Found(
        call,
        "set_epoch is never called on this sampler: every epoch has the same samples in the same order; "
        f"call {sampler}(epoch) at the start of each epoch",
        confidence,
        related=related,
        subject=missed,
    )


def _missed(trail: Trail, repeat: Repeat, project: Project) -> Missed | None:
    """Return what to write, when the loop counts epochs and the sampler or its loader has a name around it."""
    loop = repeat.loop
    counter = _counter(loop)
    if loop.iterable is None or counter is None or not _counts(loop.iterable, project):
        return None
    for way, path in ((trail.start, ""), *((call, ".sampler") for call in _made_with(trail, project))):
        name = in_reach(way, loop.iterable)
        if name is not None and in_reach(way, repeat.inside) == name and not (path and name.or_none):
            return Missed(loop, counter, f"{name.name}{path}", name.or_none)
    return None


def _made_with(trail: Trail, project: Project) -> Iterator[Call]:
    """Yield the loader that is certainly made with the sampler: the call whose argument the sampler's call is."""
    for loader in project.loaders(trail.start.scope.script):
        if loader.argument("sampler") is trail.start:
            yield loader.call


def _counts(iterable: Expression, project: Project) -> bool:
    """Whether a loop runs over a range of numbers, also through a progress bar."""
    if not isinstance(iterable, Call):
        return False
    names = project.names(iterable.callee)
    if names <= {"builtins.range", "tqdm.trange", "tqdm.auto.trange"}:
        return True
    is_bar = all(name.partition(".")[0] == "tqdm" for name in names)
    return is_bar and bool(iterable.arguments) and _counts(iterable.arguments[0].value, project)


def _counter(loop: Loop) -> str | None:
    """Return the name that a loop sets, None when it sets none that is meant to be read."""
    for name, bindings in loop.statement.region.scope.bindings.items():
        for binding in bindings:
            if binding.kind is BindingKind.LOOP and binding.value is loop.iterable and not binding.path:
                return name if name.strip("_") else None
    return None


def fix(found: Found, edits: Editor) -> Fix | None:
    missed = found.subject
    if not isinstance(missed, Missed):
        return None
    lines = [f"{missed.sampler}.set_epoch({missed.counter})"]
    if missed.or_none:
        lines = [f"if {missed.sampler} is not None:", f"    {lines[0]}"]
    changes = edits.insert_first_in_block(missed.loop.node, lines)
    return Fix(Applicability.SAFE, f"call {missed.sampler}.set_epoch in every epoch", changes)
