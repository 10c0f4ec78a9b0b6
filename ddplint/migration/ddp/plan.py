"""The whole migration of one script: what is proven, what is written, and what is left for the author to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddplint.edits import CannotEdit
from ddplint.migration.ddp.course import Course, find_course
from ddplint.migration.ddp.devices import localise
from ddplint.migration.ddp.entry import write_entry
from ddplint.migration.ddp.exchange import write_exchanges
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.loader import share_out
from ddplint.migration.ddp.outcome import Plan, Refusal, Refused, Remark
from ddplint.migration.ddp.parameters import look_for_idle_parameters, refuse_changes_after_the_wrap
from ddplint.migration.ddp.seeds import look_at_seeds
from ddplint.migration.ddp.site import find_sites
from ddplint.migration.ddp.value import Share
from ddplint.migration.ddp.values import Known, Values
from ddplint.migration.ddp.voice import Voice
from ddplint.migration.ddp.walk import Walk
from ddplint.migration.ddp.wrap import drop_import, wrap
from ddplint.project import Project
from ddplint.project.data_parallel import DataParallelUse
from ddplint.semantics import Call, Expression, Name, Script
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding

if TYPE_CHECKING:
    from ddplint.edits import Editor


def plan(project: Project, script: Script, use: DataParallelUse, editor: Editor) -> Plan:
    """Return what moving one DataParallel to DistributedDataParallel takes, or why it can't be done."""
    job = Job(project, script, editor, use.call)
    try:
        _work_out(job)
    except Refused as refused:
        at = use.call if refused.at is None else refused.at
        return Plan(refusal=Refusal(refused.reason, refused.remedy, job.position(at)))
    except CannotEdit as failure:
        reason = f"a line can't be rewritten: {failure}"
        return Plan(refusal=Refusal(reason, "write it in a simpler way", job.position(use.call)))
    notes = tuple(Remark(text, job.position(at)) for at, text in job.notes)
    return Plan(tuple(job.changes), notes)


def _work_out(job: Job) -> None:
    """Prove what has to hold, then gather the edits; raises Refused at the first thing that is not proven."""
    frameworks = job.project.frameworks(job.script)
    if frameworks:
        raise Refused(f"{', '.join(sorted(frameworks))} drives the training")
    sites = find_sites(job)
    course = find_course(job)
    values, walk = _walked(job, tuple(site.call for site in sites), course)
    if not walk.backwards:
        raise Refused("no backward pass was found on the way of the training data")
    voice = Voice(job)
    voice.find()
    for site in sites:
        refuse_changes_after_the_wrap(job, site)
        look_for_idle_parameters(job, site)
    for loader in course.loaders:
        look_at_seeds(job, loader.call)
    localise(job, sites)
    share_out(job, course)
    for site in sites:
        wrap(job, site, moves_inputs=_are_unmoved(values))
    drop_import(job, sites)
    voice.apply()
    write_exchanges(job, values, walk, voice)
    write_entry(job)


def _walked(job: Job, wraps: tuple[Call, ...], course: Course) -> tuple[Values, Walk]:
    """Look at all that is run. A loss that is not proven to be a mean is taken for one, and the author told so."""
    before = list(job.notes)
    losses: dict[int, Expression] = {}
    while True:
        means = frozenset(id(binding) for loss in losses.values() for binding in _bindings(loss))
        values = Values(job, Known(wraps, course.batches, course.counts, means))
        walk = Walk(job, values, course.batches)
        walk.run()
        if walk.unproven.keys() <= losses.keys():
            break
        losses |= walk.unproven
        job.notes[:] = before
    for loss in losses.values():
        job.note(loss, "the gradients stay the same only if this is a mean over the samples of the batch")
    return values, walk


def _bindings(loss: Expression) -> Sequence[Binding]:
    return reaching(loss.id, loss) or () if isinstance(loss, Name) else ()


def _are_unmoved(values: Values) -> bool:
    """Whether the wrapper has to move inputs to the GPU, as DataParallel did: the script does not certainly do so."""
    given = [(argument.value, frame) for call, frame in values.forwards.values() for argument in call.arguments]
    found = [values.of(value, frame) for value, frame in given]
    return any(value.share is Share.BATCH and not value.moved for value in found)
