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

## Symptoms

- the samples come in the same order in every epoch
- accuracy is lower with a DistributedSampler than on one GPU

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
be None, and under a test of its class where it can be a sampler of another class. Only the order of the samples
changes. Elsewhere there is no fix, because the place for the call is a matter of taste.

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
    LOOP_DRIVERS,
    Applicability,
    Attribute,
    BindingKind,
    Call,
    Confidence,
    Editor,
    Event,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Loop,
    Name,
    Project,
    Purpose,
    Repeat,
    Rule,
    Script,
    Trace,
    Verdict,
    in_reach,
    ranks_named,
    reaching,
    surely_bound,
)

RULE = Rule(
    code="DDP202",
    name="missing-set-epoch",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("Sampler",),
    discharged_by=LOOP_DRIVERS,
    applicability=Applicability.SAFE,
)


@dataclass(frozen=True, slots=True)
class Missed:
    """The loop that lacks the call, what to call ``set_epoch`` on there, and with what.

    ``or_none``: it can be None there. ``cls``: it can be of another class than this one there.
    """

    loop: Loop
    counter: str
    sampler: str
    or_none: bool = False
    cls: Expression | None = None


def check(script: Script, project: Project) -> Iterator[Found]:
    for call in script.calls:
        if project.samplers.awaits_epoch(call) and project.samplers.shuffles(call) is not False:
            yield from _missing(call, project)


def _missing(call: Call, project: Project) -> Iterator[Found]:
    trail = project.trail(call)
    if any(trail.reads("set_epoch")) or trail.sets("epoch"):
        return
    if not trail.complete and project.mentions(call.scope.script, (b"set_epoch",)):
        return
    purpose = project.passes.purpose(trail)
    if purpose is Purpose.EVALUATION:
        return
    repeats = list(project.passes.repeats(trail))
    if not repeats and trail.complete:
        return
    # A wrapper from outside may call set_epoch on its own.
    seen = [repeat for repeat in repeats if trail.complete or repeat.begun.is_direct]
    repeat = next(iter(seen or repeats), None)
    sure = bool(seen) and purpose is Purpose.TRAINING and project.samplers.shuffles(call) is True
    confidence = Confidence.LIKELY if sure else Confidence.POSSIBLE
    missed = None if repeat is None else _missed(call, repeat, project)
    advice = "call set_epoch(epoch) on it" if missed is None else f"call {missed.sampler}.set_epoch({missed.counter})"
    related = () if repeat is None else ((repeat.loop, "the loop that runs over its data again and again"),)
    yield Found(
        call,
        "set_epoch is never called on this sampler: every epoch has the same samples in the same order; "
        f"{advice} at the start of each epoch",
        confidence,
        related=related,
        subject=missed,
    )


def _missed(made: Call, repeat: Repeat, project: Project) -> Missed | None:
    """Return what to write, when the loop counts epochs and the sampler or its loader has a name around it."""
    loop = repeat.loop
    counter = project.epochs.counter(loop)
    if loop.iterable is None or counter is None:
        return None
    sampler = in_reach(made, loop.iterable)
    if sampler is not None and in_reach(made, repeat.inside) == sampler:
        cls = _class_in_reach(made, loop.iterable) if sampler.or_other else None
        if cls is not None or not sampler.or_other:
            return Missed(loop, counter, sampler.name, sampler.or_none, cls)
    for loader in _made_with(made, project):
        name = project.epochs.known_as(loader, repeat)
        if name is not None:
            return Missed(loop, counter, f"{name}.sampler")
    return None


def _made_with(made: Call, project: Project) -> Iterator[Call]:
    """Yield the loader that is certainly made with the sampler: the call whose argument the sampler's call is."""
    for loader in project.loaders(made.scope.script):
        if loader.argument("sampler") is made:
            yield loader.call


def _class_in_reach(made: Call, at: Expression) -> Expression | None:
    """Return the expression that names a sampler's class, when it names the same at another place."""
    root = made.callee
    while isinstance(root, Attribute):
        root = root.base
    if not isinstance(root, Name):
        return None
    there = reaching(root.id, at) or []
    imported = all(binding.kind in (BindingKind.IMPORT, BindingKind.CLASS) for binding in there)
    return made.callee if imported and there == (reaching(root.id, made) or []) and surely_bound(there, at) else None


def fix(found: Found, edits: Editor) -> Fix | None:
    missed = found.subject
    if not isinstance(missed, Missed):
        return None
    lines = [f"{missed.sampler}.set_epoch({missed.counter})"]
    if missed.cls is not None:
        lines = [f"if isinstance({missed.sampler}, {edits.source_text(missed.cls.node)}):", f"    {lines[0]}"]
    elif missed.or_none:
        lines = [f"if {missed.sampler} is not None:", f"    {lines[0]}"]
    changes = edits.insert_first_in_block(missed.loop.node, lines)
    return Fix(Applicability.SAFE, f"call {missed.sampler}.set_epoch in every epoch", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the orders of the first passes over the sampler."""
    orders = {rank: passes for rank, passes in trace.orders(finding.lines).items() if len(passes) > 1}
    if not orders:
        return Verdict.not_exercised("no rank came to a second pass over this sampler")
    evidence = [f"rank {rank}: {_shown(passes[0])}" for rank, passes in orders.items()]
    if all(passes[0]["digest"] == other["digest"] for passes in orders.values() for other in passes[1:]):
        return Verdict.confirmed(f"the first two passes had the same order on {ranks_named(orders, trace)}", *evidence)
    evidence += [f"rank {rank}, second pass: {_shown(passes[1])}" for rank, passes in orders.items()]
    return Verdict.refuted(f"the order changed between passes on {ranks_named(orders, trace)}", *evidence)


def _shown(drawn: Event) -> str:
    first = drawn["first"][:12]
    return f"{' '.join(map(str, first))} ... (first {len(first)} of {drawn['count']})"
