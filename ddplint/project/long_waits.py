"""Long work of one rank for which the others wait in a collective, no longer than the group's timeout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.guards import RankSet
from ddplint.project.lanes import EVERYONE
from ddplint.semantics import Argument, Attribute, Call, Conditional, Expression, Script
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Function, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_INIT = "torch.distributed.init_process_group"
# What functions are called that go through all of the data.
_PREPARES = re.compile(
    r"\w*(?:tokeni[sz]e|pre_?process|featuri[sz]e)\w*"
    r"|(?:build|create|make)_(?:vocab\w*|index|corpus)|(?:prepare|encode|process)_(?:data|dataset|datasets|corpus|texts?)"
)
_EVALUATES = re.compile(r"(?:\w+_)?(?:eval|evaluate|evaluation|validate|validation|test)(?:_\w+)?")
_HEAVY = re.compile(r"(?:\w+_)?(?:data)?(?:model|net|module|loader|batches)(?:_\w+)?")
# What a mapping over a dataset of Hugging Face is given, and no other ``map``.
_MAPPING = frozenset({"batched", "num_proc", "remove_columns", "load_from_cache_file"})
_WHOLE = frozenset({"datasets.load_dataset"})
_GROUP_ITSELF = frozenset({"init_process_group", "destroy_process_group"})


@dataclass(frozen=True, slots=True)
class LongWait:
    """Work that one rank does while the others wait.

    ``at``: the ``with`` that lets one rank go first, else the work. ``wait``: the collective in which the others are.
    ``start``: where the group is made, with the default timeout.
    ``doubtful``: it may as well be done soon.
    """

    at: Expression
    work: Call
    wait: Call
    start: Call
    doubtful: bool


class LongWaits:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[LongWait]:
        """Yield the long work of a script, one in each wait, in programs that leave the timeout as it is."""
        works = [(call, doubtful) for call in script.calls if (doubtful := self._may_be_short(call)) is not None]
        start = self._start(script) if works else None
        told: set[int] = set()
        for work, doubtful in works if start is not None else ():
            if not doubtful and any(loop.kind is not LoopKind.COMPREHENSION for loop in work.region.loops):
                continue  # what is prepared again and again is one batch
            wait = self._project.turns.first_wait(work) or self._wait_after(work)
            if wait is not None and start is not None and id(wait) not in told:
                told.add(id(wait))
                at = self._project.turns.manager(work) or work
                yield LongWait(at, work, wait, start, doubtful)

    def _may_be_short(self, call: Call) -> bool | None:
        """Return whether long work may as well be done soon; None: it is none that is known to be long."""
        callee = call.callee
        if isinstance(callee, Attribute) and callee.name == "map":
            return False if any(given.keyword in _MAPPING for given in call.arguments) else None
        if self._project.names(callee) & _WHOLE:
            return True
        function = self._project.resolver.function_of(call)
        if function is None or not self._goes_through(function):
            return None
        if _PREPARES.fullmatch(function.name):
            return False
        return True if _EVALUATES.fullmatch(function.name) and any(map(_is_heavy, call.arguments)) else None

    def _goes_through(self, function: Function) -> bool:
        """Whether a function has a loop, or maps over a dataset."""
        loops = (loop.statement.region.scope.function for loop in function.script.loops)
        calls = function.script.calls_in(function)
        return any(one is function for one in loops) or any(
            given.keyword in _MAPPING for call in calls for given in call.arguments
        )

    def _wait_after(self, work: Call) -> Call | None:
        """Return the collective to which the ranks go on that a test keeps from the work."""
        if self._project.guards.beside(work) is None or self._project.ranks(work).which is not RankSet.ONE:
            return None
        sites = [
            site
            for site in self._project.sites.of(work.scope.function, work.scope.script)
            if site.ranks == EVERYONE
            and site.kind not in _GROUP_ITSELF
            and not site.call.region.within(work.region)
            and not site.switched
        ]
        for loop in work.region.loops:
            around = [site.collective for site in sites if loop in site.call.region.loops]
            if around:
                return next((wait for wait in around if wait.order > work.order), around[0])
        return next((site.collective for site in sites if site.call.order > work.order), None)

    def _start(self, script: Script) -> Call | None:
        """Return where the group of a program is made, None where its timeout is chosen, or may be."""
        found = None
        for path in self._project.program_of(script):
            content = self._project.files.content(path)
            if b"_pg_timeout" in content or b"new_group" in content or b"init_device_mesh" in content:
                return None
            other = self._project.script(path) if b"init_process_group" in content else None
            for start in self._project.calls(other, _INIT) if other is not None else ():
                if self._project.argument(start, "timeout") is not Missing.ABSENT:
                    return None
                found = found or start
        return found


def _is_heavy(given: Argument) -> bool:
    """Whether an argument is a model, or a loader of data, by its name."""
    value = given.value.then if isinstance(given.value, Conditional) else given.value
    return any(map(_HEAVY.fullmatch, (given.keyword or "", last_name(value))))
