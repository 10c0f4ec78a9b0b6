"""What processes tell each other beside the gradients: numbers of their shares, and what the first one decides."""

from __future__ import annotations

from ddplint.migration.ddp.helpers import FROM_FIRST, REDUCE_MEAN, REDUCE_SUM
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.value import Share
from ddplint.migration.ddp.values import Values
from ddplint.migration.ddp.voice import Voice
from ddplint.migration.ddp.walk import Walk
from ddplint.semantics import Expression, Operation

BROUGHT_TOGETHER = "a number of one process's samples becomes that of all samples"
DECIDED = "all processes go by what the first one has measured, so that they go the same way"
_HELPERS = {Share.SUM: REDUCE_SUM, Share.MEAN: REDUCE_MEAN}


def write_exchanges(job: Job, values: Values, walk: Walk, voice: Voice) -> None:
    """Write the reductions and the decisions; raises Refused where one stands where only one process comes."""
    for expression, share, _ in values.reduced.values():
        if share is not Share.COUNT:
            _check_reached_by_all(expression, voice)
        old = values.old_items.get(id(expression))
        text = _reduced(job, expression, share) if old is None else f"{_reduced(job, old.base, share)}.item()"
        _replace(job, expression, text, BROUGHT_TOGETHER)
    for decision in walk.decisions.values():
        _check_reached_by_all(decision, voice)
        _replace(job, decision, f"{job.helper(FROM_FIRST)}({job.text(decision)})", DECIDED)


def _check_reached_by_all(expression: Expression, voice: Voice) -> None:
    if id(expression.node) in voice.guarded:
        raise Refused("a number of all processes is made where only one process writes", expression)


def _reduced(job: Job, expression: Expression, share: Share) -> str:
    if share is Share.COUNT:
        text = f"{job.text(expression)} * dist.get_world_size()"
        parent = job.project.uses(job.script).parent(expression)
        inside = isinstance(parent, Operation) and type(parent.node).__name__ != "AugAssign"
        return f"({text})" if inside else text
    return f"{job.helper(_HELPERS[share])}({job.text(expression)})"


def _replace(job: Job, expression: Expression, text: str, reason: str) -> None:
    job.edit(job.editor.replace(expression.node, text), reason)
