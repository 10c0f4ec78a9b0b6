"""Each DataParallel of a script, and how it stands in the flow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.project import Project
from ddplint.project.data_parallel import DataParallelUse, Form
from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Binding, BindingKind, Region, RegionKind, Scope, ScopeKind

_OF_BOTH = frozenset({"parameters", "train", "eval"})
MOVES = frozenset({"cuda", "to"})
# Words in the test of a branch that only asks whether there are GPUs to use.
_ASKS_FOR_GPUS = re.compile(r"cuda|gpu|device|parallel", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Site:
    """``binding`` gives ``name`` the wrapped model, with ``moves`` chained behind the call.

    ``guard`` is the branch that the wrap stands in, and ``outer`` the outermost one around that; they are None where it
    stands in none, or stays in it: ``stays`` is then the test. ``later`` are the moves of the model after the wrap.
    """

    use: DataParallelUse
    module: Expression
    binding: Binding
    moves: tuple[Call, ...]
    guard: Region | None
    outer: Region | None
    stays: Expression | None
    later: tuple[Call, ...]

    @property
    def call(self) -> Call:
        return self.use.call

    @property
    def name(self) -> str:
        return self.binding.name

    @property
    def scope(self) -> Scope:
        return self.binding.region.scope

    @property
    def keeps_name(self) -> bool:
        """Whether the model had the same name before: ``model = DataParallel(model)``."""
        return isinstance(self.module, Name) and self.module.id == self.name


def find_sites(job: Job) -> list[Site]:
    """Return how each DataParallel that trains stands; one that only evaluates is left as it is, with a note.

    Raises Refused for all but torch's class around plain names of a function or of the file.
    """
    project, sites = job.project, []
    uses = list(project.data_parallel.of(job.script))
    trained = [use for use in uses if not _only_evaluates(project, use)] or uses
    for use in uses:
        if use not in trained:
            job.note(
                use.call, "this DataParallel only evaluates; left as it is, every process would use all GPUs for it"
            )
    for use in trained:
        if use.form is not Form.CLASS or not project.certainly(use.call.callee, "torch.nn.DataParallel"):
            raise Refused("it is not certain that this is torch's DataParallel", use.call)
        sites.append(_site(job, use, [other.call for other in uses if other is not use]))
    for site in sites:
        _check_name(project, site, sites)
    return sites


def _only_evaluates(project: Project, use: DataParallelUse) -> bool:
    without = project.training.without_gradient(use.call) or project.data_parallel.evaluates(use)
    return without or not project.training.trains(use.call)


def _site(job: Job, use: DataParallelUse, others: Sequence[Call]) -> Site:
    for obstacle in job.project.obstacles.of(use):
        if not any(obstacle.at is other for other in others):
            raise Refused(obstacle.text, obstacle.at)
    if use.module is None or any(argument.star for argument in use.call.arguments):
        raise Refused("what is wrapped can't be seen", use.call)
    binding, moves = _binding(use)
    guard, outer, stays = _guards(binding)
    if stays is not None:
        job.note(stays, "where this does not hold, the model gets no wrapper, and each process trains one of its own")
    return Site(use, use.module, binding, moves, guard, outer, stays, tuple(_later(job.script, binding)))


def _binding(use: DataParallelUse) -> tuple[Binding, tuple[Call, ...]]:
    for bindings in use.call.scope.bindings.values():
        for binding in bindings:
            moves = _chain(binding.value, use.call)
            if binding.kind is BindingKind.ASSIGNMENT and not binding.path and moves is not None:
                _check_statement(binding)
                return binding, moves
    raise Refused("the wrapped model is not assigned to a plain name", use.call, "assign it to a variable first")


def _chain(value: Expression | None, wrap: Call) -> tuple[Call, ...] | None:
    """Return the moves chained behind the wrap, None where the value is something else."""
    moves: list[Call] = []
    while isinstance(value, Call) and value is not wrap:
        if not isinstance(value.callee, Attribute) or value.callee.name not in MOVES:
            return None
        moves.append(value)
        value = value.callee.base
    return tuple(moves) if value is wrap else None


def _check_statement(binding: Binding) -> None:
    line: Any = binding.statement.node
    small = getattr(line, "body", ())
    assign = small[0] if isinstance(small, tuple | list) and len(small) == 1 else None
    if len(getattr(assign, "targets", ())) != 1:
        raise Refused("the line of the wrap does more than that", binding.value)
    owner = binding.region.scope
    if owner.kind not in (ScopeKind.MODULE, ScopeKind.FUNCTION) or (owner.function and owner.function.cls):
        raise Refused("the wrap stands in a class", binding.value)


def is_entry_test(region: Region) -> bool:
    """Whether a branch is ``if __name__ == "__main__"``."""
    test = region.test
    return test is not None and region.holds and any(last_name(part) == "__name__" for part in test.walk())


def _guards(binding: Binding) -> tuple[Region | None, Region | None, Expression | None]:
    """Return the innermost and the outermost branch around a wrap if all only ask for GPUs, else the innermost test."""
    around = [region for region in binding.region.chain() if not _is_plain(region)]
    if not around:
        return None, None, None
    guard = around[0]
    if any(region.kind is not RegionKind.BRANCH or region.test is None for region in around) or guard.test is None:
        raise Refused("the wrap stands in a loop, or where not every run comes", binding.value)
    ask = all(
        any(_ASKS_FOR_GPUS.search(_word(part)) for part in region.test.walk()) for region in around if region.test
    )
    hold = not any(region.implied or not region.holds for region in around)
    if ask and hold and getattr(guard.node, "orelse", None) is None:
        return guard, around[-1], None
    return None, None, guard.test


def _is_plain(region: Region) -> bool:
    return region.kind in (RegionKind.MODULE, RegionKind.FUNCTION) or is_entry_test(region)


def _word(part: Expression) -> str:
    value = getattr(part, "value", None)
    return value if isinstance(value, str) else last_name(part)


def _later(script: Script, wrapped: Binding) -> Iterator[Call]:
    """Yield the statements after the wrap that move the model."""
    for call in script.calls:
        follows = call.scope is wrapped.region.scope and call.order > wrapped.order
        if follows and not call.region.excludes(wrapped.region) and _moves(call, wrapped.name):
            yield call


def _moves(call: Call, name: str) -> bool:
    callee = call.callee
    moves = isinstance(callee, Attribute) and callee.name in MOVES
    return moves and isinstance(callee, Attribute) and isinstance(callee.base, Name) and callee.base.id == name


def _check_name(project: Project, site: Site, sites: Sequence[Site]) -> None:
    """The name stands for nothing else after the wrap, and the model is read under no other name."""
    known = {id(move) for move in site.later} | {id(other.binding.value) for other in sites}
    for binding in site.scope.bindings[site.name]:
        follows = binding.order > site.binding.order and not binding.region.excludes(site.binding.region)
        if follows and id(binding.value) not in known:
            raise Refused(f"{site.name} gets another value after the wrap", binding.value)
    if isinstance(site.module, Name) and not site.keeps_name:
        reads = [read for read in site.scope.script.names if read.id == site.module.id]
        after = [read for read in reads if read.order > site.module.order or read.scope is not site.scope]
        if after:
            raise Refused(f"{site.module.id} is used without its wrapper after the wrap", after[0])
    elif not site.keeps_name and not isinstance(site.module, Call):
        raise Refused("what is wrapped is not a plain name", site.module)
    _check_moves(project, site)


def _wants_parameters(project: Project, read: Name) -> bool:
    """Whether a read only asks for the parameters, which are those of the model inside, or for its mode."""
    parent = project.uses(read.scope.script).parent(read)
    if isinstance(parent, Attribute):
        return parent.name in _OF_BOTH
    function = project.resolver.function_of(parent) if isinstance(parent, Call) else None
    if function is None or not isinstance(parent, Call):
        return False
    given = next((name for name, value in project.resolver.bound(parent, function).items() if value is read), None)
    reads = [one for one in function.script.names if one.id == given and one.scope.function is function]
    return given is not None and all(_wants_parameters(project, one) for one in reads)


def _check_moves(project: Project, site: Site) -> None:
    if not site.later:
        return
    last = max(move.order for move in site.later)
    own = {id(move.callee.base) for move in site.later if isinstance(move.callee, Attribute)}
    for read in site.scope.script.names:
        between = read.id == site.name and site.binding.order < read.order < last and id(read) not in own
        if between and not _wants_parameters(project, read):
            raise Refused("the wrapped model is used before it is moved to its device", read)
    for move in site.later:
        before = site.binding.region if site.outer is None or site.outer.parent is None else site.outer.parent
        ways = [region for region in site.binding.region.chain() if region.within(before)]
        if move.region not in ways:
            raise Refused("the model is moved to its device only on some ways", move)
