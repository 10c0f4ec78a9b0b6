"""Which code every process of a distributed run comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddplint.project.collectives import COLLECTIVES
from ddplint.project.reach import Reach, body_of
from ddplint.semantics import Call, Expression, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.launchers import LAUNCHER_NAMES, launched, process_index
from ddplint.semantics.speech import hands_text_on, holds_rank, names_process, precedes_failure
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

_STARTS = frozenset({"torch.distributed.init_process_group", "timm.utils.init_distributed_device"})
_WRAPS = frozenset({"torch.nn.parallel.DistributedDataParallel", "apex.parallel.DistributedDataParallel"})
_START_WORDS = tuple(name.rpartition(".")[2].encode() for name in _STARTS)
_MEETINGS = COLLECTIVES - {"init_process_group", "destroy_process_group", "new_group", "new_subgroups"}
_DEEPEST = 4


class Processes:
    """Answers where the processes of a group are, each of them."""

    def __init__(self, project: Project, reach: Reach) -> None:
        self._project = project
        self._reach = reach
        self._starting: dict[int, bool] = {}
        self._entered: dict[tuple[int, bool], bool] = {}
        self._leading: dict[int, bool] = {}

    def all_come_to(self, at: Expression, *, early: bool = False) -> bool:
        """Whether every process of a group certainly comes to an expression, by at least one way.

        The group is started before it in the same function, or a function without which there would be no group runs
        it. A test of the rank on the way, an error path, a switch that only one rank may have: the answer is no.
        ``early``: what such a function does before the group is started counts, too, and options are no such switches.
        """
        return not self._project.selective.may_miss(at, of_options=not early) and (
            self._is_in_group(at, early) or self._is_entered(at.scope.function, early)
        )

    def certainly_started(self, at: Expression, depth: int = 0) -> bool:
        """Whether the group is there on every way to an expression, whatever the options."""
        function = at.scope.function
        if any(
            call.order < at.order and at.region.within(call.region) and self._starts_always(call)
            for call in self._own_calls(at)
        ):
            return True
        if function is None or depth > _DEEPEST:
            return False
        calls, complete = self._project.callers(function)
        return complete and bool(calls) and all(self.certainly_started(call, depth + 1) for call in calls)

    def precedes_start(self, at: Expression) -> bool:
        """Whether the group is started only after an expression, by the function around it or by what that calls."""
        starts = [call for call in self._own_calls(at) if self._starts(call)]
        return bool(starts) and all(at.order < call.order for call in starts)

    def later_start(self, at: Expression) -> Call | None:
        """Return the call that starts the group for the function around an expression, which always comes before it."""
        starts = [call for call in self._own_calls(at) if self._starts(call)]
        is_first = bool(starts) and all(at.order < call.order and call.region.within(at.region) for call in starts)
        return starts[0] if is_first and not at.region.loops else None

    def are_started_by(self, script: Script) -> bool:
        """Whether a script starts the processes of a group itself, by ``spawn`` or ``Process``."""
        # By their last names: a context of multiprocessing has them, too.
        calls = (call for call in script.calls if last_name(call.callee) in LAUNCHER_NAMES)
        given = (argument.value for call in calls for argument in call.arguments)
        functions = (origin for value in given for origin in self._project.resolver.origins(value))
        return any(isinstance(function, Function) and self._starts_group(function) for function in functions)

    def all_say(self, line: Call) -> bool:
        """Whether every process certainly comes to a line that is printed or logged, and none says who it is.

        What is said before a process fails, and what only hands on the words of others, does not count.
        """
        if names_process(line) or precedes_failure(line) or hands_text_on(line):
            return False
        return self.all_come_to(line) and not holds_rank(line, self._project.rank_values, self._project.resolver)

    def _starts_always(self, call: Call, depth: int = 0) -> bool:
        if self._project.names(call.callee) & _STARTS:
            return True
        function = self._project.resolver.function_of(call) if depth < _DEEPEST else None
        return function is not None and any(
            inner.region is function.region and self._starts_always(inner, depth + 1)
            for inner in self.calls_of(function)
        )

    def _is_entered(self, function: Function | None, early: bool) -> bool:
        """Whether every process comes into a function."""
        if function is None:
            return False
        key = (id(function), early)
        if key not in self._entered:
            self._entered[key] = False  # what a function that calls itself gets
            calls, _ = self._project.callers(function)
            self._entered[key] = any(self._enters(call, function, early) for call in calls)
        return self._entered[key]

    def _enters(self, call: Call, function: Function, early: bool) -> bool:
        if process_index(self._project.resolver, call, function) is not None:
            return self._starts_group(function)
        return launched(self._project.resolver, call) is None and self.all_come_to(call, early=early)

    def _is_in_group(self, at: Expression, early: bool) -> bool:
        """Whether the function around an expression is run by the processes of a group, which is started by then."""
        calls = self._own_calls(at)
        if any(launched(self._project.resolver, call) is not None for call in calls):
            return False  # this is the parent of the processes
        together = [call for call in calls if not call.region.excludes(at.region)]
        starts = [call for call in together if self._starts(call)]
        if starts:
            return early or any(call.order < at.order for call in starts)
        return any(self._needs_group(call) for call in together)

    def _starts(self, call: Call) -> bool:
        if not self._leads_to_start(call.scope.script):
            return False
        if self._project.names(call.callee) & _STARTS:
            return True
        function = self._project.resolver.function_of(call)
        return function is not None and self._starts_group(function)

    def _leads_to_start(self, script: Script) -> bool:
        """Whether a file, or one that it imports, speaks of starting a group at all."""
        if id(script) not in self._leading:
            path = self._project.scripts.path_of(script)
            files = self._project.files
            read = (script.source.text.encode(),) if path is None else map(files.content, files.needed_by(path))
            self._leading[id(script)] = any(word in content for content in read for word in _START_WORDS)
        return self._leading[id(script)]

    def _needs_group(self, call: Call) -> bool:
        """Whether a call, which all processes make, can't be made without a group."""
        needs = self._project.names(call.callee) & _WRAPS or self._project.collectives.own(call) in _MEETINGS
        return bool(needs) and self._project.rank_tests.guard(call.region) is None

    def _starts_group(self, function: Function, depth: int = 0) -> bool:
        """Whether a function starts the group, itself or through what it calls, in its own process."""
        if id(function) not in self._starting:
            self._starting[id(function)] = False  # what a function that calls itself gets
            self._starting[id(function)] = depth < _DEEPEST and self._has_start(self.calls_of(function), depth)
        return self._starting[id(function)]

    def _has_start(self, calls: Sequence[Call], depth: int) -> bool:
        if any(launched(self._project.resolver, call) is not None for call in calls):
            return False
        if any(self._project.names(call.callee) & _STARTS for call in calls):
            return True
        if not calls or not self._leads_to_start(calls[0].scope.script):
            return False
        called = (self._project.resolver.function_of(call) for call in calls)
        return any(function is not None and self._starts_group(function, depth + 1) for function in called)

    def _own_calls(self, at: Expression) -> Sequence[Call]:
        """Return the calls of the function around an expression, or of the file outside functions."""
        function = at.scope.function
        return [call for call in self._reach.calls_in(body_of(at)) if call.scope.function is function]

    def calls_of(self, function: Function) -> Sequence[Call]:
        """Return the calls of a function without those of functions that are written in it."""
        return [call for call in self._reach.calls_in(function.outermost) if call.scope.function is function]
