"""The wrap itself: DistributedDataParallel around the model, after the model was moved, whatever GPUs there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ddplint.edits import CannotEdit
from ddplint.migration.ddp.helpers import add_import
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.site import Site
from ddplint.semantics import Name

DDP = "DistributedDataParallel"
OWN_GPU = "[torch.cuda.current_device()] if torch.cuda.is_available() else None"
WRAPPED = "the model is wrapped in DistributedDataParallel once it is on its device, whatever GPUs there are"


def wrap(job: Job, site: Site, *, moves_inputs: bool) -> None:
    """Write the wrap. It is told its GPU where it has to move the inputs there; else it finds it by the parameters."""
    own_gpu = f", device_ids={OWN_GPU}" if moves_inputs else ""
    add_import(job, f"from torch.nn.parallel import {DDP}")
    assert site.binding.value is not None
    inner = job.text(site.module) + _moves_text(job, site)
    stays = site.guard is None and not site.later and not site.moves
    if stays:
        job.edit(job.editor.replace(site.binding.value.node, f"{DDP}({inner}{own_gpu})"), WRAPPED)
    else:
        _take_apart(job, site, inner, own_gpu)


def _take_apart(job: Job, site: Site, inner: str, own_gpu: str) -> None:
    """Leave making and moving the model where it is, and wrap it once that is over."""
    line: Any = site.binding.statement.node
    assert site.binding.value is not None
    anchor = _last_of(site)
    if inner != site.name:
        job.edit(job.editor.replace(site.binding.value.node, inner), WRAPPED)
    elif site.guard is not None and len(site.guard.node.body.body) == 1:  # type: ignore[attr-defined]  # an If's block
        job.edit(job.editor.remove_statement(site.guard.node), WRAPPED)
    else:
        job.edit(job.editor.remove_statement(line), WRAPPED)
    job.edit(job.editor.insert_statements_after(anchor, _line(site, own_gpu)), WRAPPED)


def _line(site: Site, own_gpu: str) -> Sequence[str]:
    return (f"{site.name} = {DDP}({site.name}{own_gpu})",)


def _last_of(site: Site) -> Any:
    """Return the statement after which the model is made and moved."""
    outside = [move for move in site.later if site.outer is None or not move.region.within(site.outer)]
    if outside:
        return outside[-1].statement.node
    if site.outer is not None:
        return site.outer.node
    return site.later[-1].statement.node if site.later else site.binding.statement.node


def _moves_text(job: Job, site: Site) -> str:
    """Return ``.cuda()`` and the like as they are chained behind the wrap."""
    assert site.binding.value is not None
    whole, wrapped = job.text(site.binding.value), job.text(site.call)
    if not whole.startswith(wrapped):
        raise Refused("the line of the wrap is written in a way that can't be taken apart", site.call)
    return whole[len(wrapped) :]


def drop_import(job: Job, sites: Sequence[Site]) -> None:
    """Take DataParallel out of its import where nothing else needs it."""
    callees = [site.call.callee for site in sites]
    callee = callees[0]
    if not isinstance(callee, Name):
        return
    if any(read.id == callee.id and not any(read is one for one in callees) for read in job.script.names):
        return
    for binding in job.script.scope.bindings.get(callee.id, ()):
        line: Any = binding.statement.node
        statement = line.body[0] if getattr(line, "body", ()) else line
        alias: Any = binding.node
        try:
            job.edit(job.editor.remove_from_import(statement, alias), "nothing needs this import any more")
        except CannotEdit as error:
            raise Refused(f"the import of DataParallel can't be removed: {error}", callee) from None
