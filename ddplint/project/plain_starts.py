"""What a script does when it is started by itself, without a launcher that sets RANK and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Comparison, Constant, Expression, Name, Script
from ddplint.semantics.attempts import caught
from ddplint.semantics.expressions import last_name
from ddplint.semantics.launchers import launched
from ddplint.semantics.structure import ExitKind, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_INIT = "torch.distributed.init_process_group"
_INIT_WORD = _INIT.rpartition(".")[2].encode()
LAUNCHER_VARIABLES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"})
_MISSING = frozenset({"KeyError", "TypeError", "LookupError", "Exception", "BaseException"})
_DISTRIBUTED = re.compile(
    r"distribut|(?:^|_)ddp|multi_?(?:gpu|proc)|world_?size|n(?:um)?_?(?:gpus?|procs|processes)(?:_|$)|(?:^|_)dist(?:_|$)",
    re.IGNORECASE,
)
_STRAIGHT = frozenset({RegionKind.MODULE, RegionKind.FUNCTION, RegionKind.WITH, RegionKind.TRY, RegionKind.FINALLY})
_DEEPEST = 4
_SEARCHED = 40


class SingleRun(Enum):
    """Whether a program also runs as one process, without a process group."""

    OFFERED = "an option, or a variable that is not set, leaves the group out"
    COUNTED = "a single process leaves the group out, whoever started it"
    NOT_OFFERED = "there is no such way in sight"


class PlainStarts:
    """Answers for a script that is started as ``python train.py``."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, SingleRun] = {}

    def comes_to(self, at: Expression, depth: int = 0) -> bool:
        """Whether a plain start surely comes to an expression, and nothing around it catches what is missing there."""
        if caught(at.region) & _MISSING or not all(map(_is_straight, at.region.chain())):
            return False
        function = at.scope.function
        if function is None:
            return True
        calls = self._project.callers(function)[0] if depth < _DEEPEST else ()
        return any(
            launched(self._project.resolver, call) is None and self.comes_to(call, depth + 1)
            for call in calls
            if call.scope.function is not function
        )

    def single_run(self, script: Script) -> SingleRun:
        """Return whether the program of a script also runs without a process group, and by what."""
        if id(script) not in self._known:
            starts = list(self._starts(script))
            self._known[id(script)] = self._judge(starts, script)
        return self._known[id(script)]

    def _judge(self, starts: list[Call], script: Script) -> SingleRun:
        if any(map(self.comes_to, starts)):
            return SingleRun.NOT_OFFERED
        found = {self._of_test(region) for start in starts for way in self._ways(start, script) for region in way}
        ranked = (SingleRun.OFFERED, SingleRun.COUNTED)
        return next((one for one in ranked if one in found), SingleRun.NOT_OFFERED)

    def _starts(self, script: Script) -> Iterator[Call]:
        """Yield the calls that start the process group of the program."""
        paths = (path for path in self._project.program_of(script) if _INIT_WORD in self._project.files.content(path))
        for path, _ in zip(paths, range(_SEARCHED), strict=False):
            other = self._project.script(path)
            yield from () if other is None else self._project.calls(other, _INIT)

    def _ways(self, at: Call, script: Script, depth: int = 0) -> Iterator[list[Region]]:
        """Yield the branches on each way from a script to a call, which may be in a function of another file."""
        branches = [region for region in at.region.chain() if region.kind is RegionKind.BRANCH]
        is_here = at.scope.script is script
        if is_here:
            yield branches
        function = at.scope.function
        if function is None or depth == _DEEPEST or (function.cls is not None and not is_here):
            return
        for call in self._project.callers(function)[0]:
            if call.scope.function is not function:
                yield from (branches + way for way in self._ways(call, script, depth + 1))

    def _of_test(self, region: Region) -> SingleRun:
        """Return what the test of a branch says of a run without the branch."""
        test = region.test
        if test is None or _is_name_test(region) or _is_refused(region):
            return SingleRun.NOT_OFFERED
        parts = [part for made in self._made_of(test) for part in made.walk()]
        if any(map(_asks_whether_set, parts)) or self._has_default(parts):
            return SingleRun.OFFERED
        if any(map(self._is_read, parts)):
            return SingleRun.COUNTED
        return SingleRun.OFFERED if any(map(self._names_distribution, parts)) else SingleRun.NOT_OFFERED

    def _names_distribution(self, part: Expression) -> bool:
        """Whether a name says that it asks for several processes; the module torch.distributed itself does not."""
        is_torch = any(name.startswith("torch.") for name in self._project.names(part))
        return bool(_DISTRIBUTED.search(last_name(part))) and not is_torch

    def _made_of(self, test: Expression) -> Iterator[Expression]:
        """Yield a test, and what the names and attributes in it stand for."""
        yield test
        for part in test.walk():
            yield from (one for one in self._project.origins(part) if isinstance(one, Expression) and one is not part)

    def _is_read(self, part: Expression) -> bool:
        return any(read.at is part for read in self._project.environment_reads(part.scope.script))

    def _has_default(self, parts: list[Expression]) -> bool:
        """Whether one of the launcher's variables is read with a value for the case that it is not set."""
        places = {id(part) for part in parts}
        scripts = {id(part.scope.script): part.scope.script for part in parts}
        return any(
            id(read.at) in places and read.variable in LAUNCHER_VARIABLES and not read.must_exist
            for script in scripts.values()
            for read in self._project.environment_reads(script)
        )


def _is_straight(region: Region) -> bool:
    return region.kind in _STRAIGHT or (region.kind is RegionKind.BRANCH and _is_name_test(region) and region.holds)


def _is_name_test(region: Region) -> bool:
    """Whether a branch asks whether this is the file that was started."""
    return region.test is not None and any(
        isinstance(part, Name) and part.id == "__name__" for part in region.test.walk()
    )


def _is_refused(region: Region) -> bool:
    """Whether a run that does not take a branch ends with an error."""
    others = [] if region.fork is None else [arm for arm in region.fork.arms if arm is not region]
    raised = [leave.region for leave in region.scope.script.exits if leave.kind is ExitKind.RAISE]
    return any(leave.within(other) for leave in raised for other in others)


def _asks_whether_set(part: Expression) -> bool:
    """Whether an expression is ``"RANK" in os.environ``."""
    return (
        isinstance(part, Comparison)
        and isinstance(part.left, Constant)
        and part.left.value in LAUNCHER_VARIABLES
        and any(operator in ("in", "not in") for operator, _ in part.comparisons)
    )
