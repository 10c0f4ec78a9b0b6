"""Devices: after the start, ``cuda`` is the process's own GPU, so that only numbers of GPUs have to go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.site import Site
from ddplint.migration.ddp.statements import Statements
from ddplint.semantics import Attribute, Call, Constant, Expression
from ddplint.semantics.resolve import Imported, Part
from ddplint.semantics.speech import is_whole_statement

if TYPE_CHECKING:
    from ddplint.semantics.resolve import Origin

OWN_GPU = "`cuda` without a number is the GPU that belongs to the process"
_NUMBERED = re.compile(r"cuda:(\d+)")
_COUNT = frozenset({"torch.cuda.device_count"})
_BY_HAND = frozenset({"torch.cuda.set_device", "torch.cuda.device", "torch.cuda.Stream"})


def localise(job: Job, sites: Sequence[Site]) -> None:
    """Take the numbers off the devices of a script; raises Refused where one is chosen by hand."""
    for constant in _constants(job):
        number = _NUMBERED.fullmatch(str(constant.value))
        if number is None or number[1] != "0":
            raise Refused("a GPU is named by its number", constant)
        quote = job.text(constant)[0]
        if quote not in "'\"":
            raise Refused("a GPU is named by its number", constant)
        job.edit(job.editor.replace(constant.node, f"{quote}cuda{quote}"), OWN_GPU)
    for call in job.script.calls:
        names = job.project.names(call.callee)
        if names == {"torch.cuda.set_device"} and is_whole_statement(call):
            job.edit(job.editor.remove_statement(call.statement.node), OWN_GPU)
        elif names & _BY_HAND:
            raise Refused("the script chooses its GPU by hand", call)
        if names & _COUNT:
            _check_count(job, sites, call)
        if names == {"torch.device"} or _is_move(job, call):
            _check_target(job, call)


def _constants(job: Job) -> Iterator[Constant]:
    for expression in Statements(job.script).all():
        if isinstance(expression, Constant) and str(expression.value).startswith("cuda:"):
            yield expression


def _is_move(job: Job, call: Call) -> bool:
    callee = call.callee
    own = isinstance(callee, Attribute) and callee.name in ("cuda", "to")
    return own and job.project.resolver.function_of(call) is None


def _check_target(job: Job, call: Call) -> None:
    """The device must be one of the words cuda and cpu, whoever chooses between them."""
    for argument in call.arguments:
        if argument.keyword in ("non_blocking", "async", "dtype", "copy", "memory_format"):
            continue
        value = argument.value
        if isinstance(value, Constant) and value.value == 0 and len(call.arguments) == 1 and _is_cuda(call):
            job.edit(job.editor.remove_argument(call.node, argument.node), OWN_GPU)
        elif not all(_is_device(origin) for origin, _ in job.project.frames.sources(value, None)):
            job.note(value, "this has to be the process's own GPU, which torch.device('cuda') is")


def _is_cuda(call: Call) -> bool:
    return isinstance(call.callee, Attribute) and call.callee.name == "cuda"


def _is_device(origin: Origin) -> bool:
    if isinstance(origin, Constant):
        return origin.value in ("cuda", "cpu", "cuda:0", True, False, None) and origin.value != 0
    if isinstance(origin, Call):
        return isinstance(origin.callee, Attribute) and origin.callee.name == "device"
    if isinstance(origin, Imported):
        return origin.name.startswith("torch.")
    return isinstance(origin, Attribute) and origin.name == "device" and not isinstance(origin, Part)


def _check_count(job: Job, sites: Sequence[Site], call: Call) -> None:
    """The number of GPUs may be printed, asked for around the wrap, or make the batch, which is shared all the same."""
    uses = job.project.uses(job.script)
    reads: list[Expression] = [call]
    for binding in uses.bindings(call):
        reads += uses.reads(binding) if not binding.path else [call]
    for read in reads:
        if uses.bindings(read) and read is call:
            continue
        of_wrap = any(_is_within(read, site.call) or _guards(read, site) for site in sites)
        if not (of_wrap or _is_printed(job, read) or _is_of_loader(job, read)):
            job.note(read, "this is still the number of GPUs of the machine, while each process drives one of them")


def _is_of_loader(job: Job, read: Expression) -> bool:
    return any(_is_within(read, loader.call) for loader in job.project.loaders(job.script))


def _is_within(read: Expression, whole: Expression) -> bool:
    return any(part is read for part in whole.walk())


def _is_printed(job: Job, read: Expression) -> bool:
    return any(
        job.project.names(call.callee) <= {"builtins.print"} and _is_within(read, call)
        for call in job.script.calls_in(read.scope.function)
    )


def _guards(read: Expression, site: Site) -> bool:
    test = site.stays if site.guard is None else site.guard.test
    return test is not None and _is_within(read, test)
