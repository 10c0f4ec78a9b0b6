"""The course of the training: its loader, the loop over the batches, and the loop that counts the epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.project import Project
from ddplint.project.loaders import Loader
from ddplint.project.passes import Purpose
from ddplint.semantics import Call, Constant, Expression, Name, Script
from ddplint.semantics.reaching import scope_of
from ddplint.semantics.structure import BindingKind, Loop, LoopKind

# What a training loader has less of on each of several processes, and what stays as it is.
_CHANGED = frozenset({"batch_size", "num_workers", "sampler", "batch_sampler"})
_UNCHANGED = frozenset({"dataset", "drop_last", "collate_fn", "pin_memory"})
_BARS = frozenset({"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.std.tqdm", "tqdm.notebook.tqdm"})


@dataclass(frozen=True, slots=True)
class Course:
    """``loaders``, one of which is made, are known as ``name`` in the epoch loop, whose rounds ``epoch`` counts.

    ``counts``: see Known. ``epochs`` is None where nothing counts the epochs.
    """

    loaders: tuple[Loader, ...]
    name: str
    batches: Loop
    counts: bool
    epochs: Loop | None
    epoch: str


def find_course(job: Job) -> Course:
    """Return the course of a script's training; raises Refused where a part of it that is moved can't be seen."""
    project = job.project
    loaders = _training_loaders(job)
    loops = {id(loop): loop for loop in (_batches(job, loader) for loader in loaders)}
    if len(loops) > 1:
        raise Refused("several loaders are for training", loaders[1].call)
    (batches,) = loops.values()
    assert batches.iterable is not None
    counts = _counts(project, batches.iterable)
    repeats = list(project.passes.repeats(loaders[0].trail))
    epochs = repeats[0].loop if len(repeats) == 1 and repeats[0].loop.kind is LoopKind.FOR else None
    epoch = None if epochs is None else project.epochs.counter(epochs)
    if epochs is None or epoch is None:
        return Course(loaders, "", batches, counts, None, "")
    return Course(loaders, _name(job.script, loaders, epochs), batches, counts, epochs, epoch)


def _training_loaders(job: Job) -> tuple[Loader, ...]:
    """Return the loaders of the training data: one, or those of which a run makes one."""
    loaders = job.project.loaders(job.script)
    training = [loader for loader in loaders if loader.purpose is Purpose.TRAINING]
    for loader in loaders:
        if loader.purpose is Purpose.UNKNOWN and training:
            job.note(loader.call, "taken for a loader of evaluation data: every process goes through all of it")
    if not training:
        raise Refused(
            "the loader of the training data is not made in this file", remedy="this migration needs all parts in one"
        )
    for number, loader in enumerate(training):
        if not all(loader.call.region.excludes(other.call.region) for other in training[:number]):
            raise Refused("several loaders are for training", loader.call)
        if not loader.is_torchs:
            raise Refused("the loader is not certainly torch's DataLoader", loader.call)
    return tuple(training)


def _batches(job: Job, loader: Loader) -> Loop:
    """Return the one loop over the batches of a loader."""
    trail = loader.trail
    if not trail.complete:
        raise Refused("the loader is handed to something that can't be read", loader.call)
    for attribute in trail.attributes:
        if attribute.name in _CHANGED:
            job.note(attribute, f"{attribute.name} of the loader is that of one process now")
        elif attribute.name not in _UNCHANGED:
            raise Refused(f"the script reads {attribute.name} of the loader, which may change", attribute)
    if len(trail.consumers) != 1 or len(trail.passes) != 1:
        raise Refused("the training data is run over in more than one place", loader.call)
    batches = trail.consumers[0]
    if not isinstance(batches, Loop) or batches.kind is not LoopKind.FOR or batches.iterable is None:
        raise Refused("batches are taken out of an iterator, not by a loop over the loader", loader.call)
    return batches


def _counts(project: Project, iterable: Expression) -> bool:
    """Whether the loop enumerates its batches; raises Refused for a loop over anything but the loader."""
    counts = False
    while isinstance(iterable, Call):
        names = project.names(iterable.callee)
        if names <= {"builtins.enumerate"} and not counts:
            counts = True
        elif not names <= _BARS:
            raise Refused("the batches come through something around the loader", iterable)
        if not iterable.arguments or iterable.arguments[0].keyword is not None:
            raise Refused("the batches come through something around the loader", iterable)
        iterable = iterable.arguments[0].value
    if not isinstance(iterable, Name):
        raise Refused("the loop does not run over the loader by its name", iterable)
    return counts


def _name(script: Script, loaders: Sequence[Loader], epochs: Loop) -> str:
    """Return the name that the loaders have in the epoch loop."""
    calls = {id(loader.call) for loader in loaders}
    for scope in script.scopes:
        for name, bindings in scope.bindings.items():
            plain = all(binding.kind is BindingKind.ASSIGNMENT and not binding.path for binding in bindings)
            if not plain or {id(binding.value) for binding in bindings} != calls:
                continue
            if scope_of(name, epochs.statement.region.scope) is scope:
                return name
    raise Refused("the loader has no name of its own in the epoch loop", loaders[0].call)


def is_constant(expression: object, value: object) -> bool:
    """Whether something is an expression that is written as this value."""
    return isinstance(expression, Constant) and expression.value is value
