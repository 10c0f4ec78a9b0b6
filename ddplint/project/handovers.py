"""Files that one rank writes or removes and other ranks read, with nothing between that lets them wait."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.project.sameness import Sameness
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script
from ddplint.semantics.alike import Given, alike
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import BindingKind, Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

_OPENS = frozenset({"builtins.open", "io.open"})
_READS = frozenset(
    {"torch.load", "torch.jit.load", "numpy.load", "safetensors.torch.load_file", "pandas.read_csv", "joblib.load"}
)
_REMOVES = frozenset({"os.remove", "os.unlink", "shutil.rmtree", "os.rename", "os.replace", "shutil.move"})
# What may let the ranks wait for each other though its code can't be seen.
_MAY_WAIT = re.compile(r"barrier|sync|wait|everyone|broadcast|gather|reduce|backward|join(?!$)", re.IGNORECASE)
# Names behind names that are followed.
_DEEPEST = 6
# Methods that keep to their own process, whatever they are called on.
_QUIET = re.compile(
    r"add_\w+|append|clear|close|cpu|cuda|debug|detach|eval|exists|extend|flush|format|get|info|is_file|item|items|join"
    r"|keys|load_state_dict|log|log_metrics|lower|mkdir|parameters|print|save|set_\w+|state_dict|strftime|strip|to|train"
    r"|update|upper|values|warning|write"
)


class HandoverKind(Enum):
    """What is too early."""

    READ = "the other ranks read what one rank may still be writing"
    REMOVAL = "one rank removes what the others may still be reading"


@dataclass(frozen=True, slots=True)
class Handover:
    """A call that comes too early, the ``other`` call that it should wait for, and the path of both.

    Each is the call that reads, writes or removes the file, or that of a helper which does. ``doubtful``: something
    stands between them of which it can't be seen whether it waits.
    """

    at: Call
    other: Call
    path: Expression
    kind: HandoverKind
    doubtful: bool


@dataclass(frozen=True, slots=True)
class _Access:
    """A call in a function, the call inside of it that touches a file, the file's path, and how a helper is run."""

    at: Call
    call: Call
    path: Expression
    frame: Frame | None


class Handovers:
    """Finds them in scripts, where both calls stand in one function, or in helpers that it calls."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Handover]:
        """Yield the files that are read, or removed, before the ranks have waited for each other."""
        for function in (None, *script.functions):
            calls = script.calls_in(function)
            reads = list(self._accesses(calls, self._read))
            if reads:
                for write in self._accesses(calls, self._written):
                    yield from self._too_early(write, reads, HandoverKind.READ)
                for removal in self._accesses(calls, self._removed):
                    yield from self._too_early(removal, reads, HandoverKind.REMOVAL)

    def _accesses(self, calls: Sequence[Call], path_of: Callable[[Call], Expression | None]) -> Iterator[_Access]:
        """Yield the calls that touch a file, here or in the functions that are called here."""
        for call in calls:
            path = path_of(call)
            if path is not None:
                yield _Access(call, call, path, None)
            frame = self._project.frames.enter(call, None)
            for inner in () if frame is None else frame.function.script.calls_in(frame.function):
                path = path_of(inner)
                if path is not None:
                    yield _Access(call, inner, path, frame)

    def _too_early(self, other: _Access, reads: Sequence[_Access], kind: HandoverKind) -> Iterator[Handover]:
        """Yield the reads that come too early after a write, or the removal that comes too early after a read."""
        if not self._is_of_some(other):
            return
        for read in reads:
            first, last = (other, read) if kind is HandoverKind.READ else (read, other)
            if first.at.order >= last.at.order or not self._is_handed_over(read, other):
                continue
            waits = [self._waits(call) for call in self._between(first, last)]
            if True not in waits:
                yield Handover(last.at, first.at, read.path, kind, None in waits)

    def _is_of_some(self, access: _Access) -> bool:
        calls = {access.at, access.call} if access.frame else {access.call}
        return any(self._project.rank_tests.guard(call.region) is not None for call in calls)

    def _is_handed_over(self, read: _Access, other: _Access) -> bool:
        """Whether all ranks read a file that one rank writes, or removes, in the same pass."""
        if read.at.region.excludes(other.at.region) or not self._is_apart(other, read):
            return False
        if not alike(read.path, other.path, self._given(read), self._given(other)):
            return False
        if self._project.same_values.of(read.path, read.frame) is not Sameness.SAME:
            return False
        return all(self._project.processes.all_come_to(call, early=True) for call in {read.at, read.call})

    def _is_apart(self, access: _Access, read: _Access) -> bool:
        """Whether a test of the rank stands around one call and not around another."""
        if access.frame is not None and self._project.rank_tests.guard(access.call.region) is not None:
            return True
        guards = self._project.rank_tests.guards(access.at.region)
        return any(not read.at.region.within(tested) for _, tested in guards)

    def _given(self, access: _Access) -> Given:
        """Return what stands for an expression: for a name its only value, for a parameter what the caller gives."""

        def given(expression: Expression) -> Expression:
            for _ in range(_DEEPEST):
                value = self._value(expression, access.frame)
                if value is None:
                    break
                expression = value
            return expression

        return given

    def _value(self, name: Expression, frame: Frame | None) -> Expression | None:
        bindings = reaching(name.id, name) if isinstance(name, Name) else None
        if not bindings or len(bindings) != 1 or bindings[0].order > name.order:
            return None
        if bindings[0].parameter is None:
            plain = bindings[0].kind is BindingKind.ASSIGNMENT and not bindings[0].path
            return bindings[0].value if plain else None
        found = self._project.frames.given(bindings[0].parameter, frame)
        return None if found is None else found[0]

    def _between(self, first: _Access, last: _Access) -> Iterator[Call]:
        """Yield the calls between two accesses, in their helpers, too."""
        script, function = first.at.scope.script, first.at.scope.function
        if first.frame is not None:
            yield from (one for one in _calls(first.frame.function) if one.order > first.call.order)
        yield from (one for one in script.calls_in(function) if first.at.order < one.order < last.at.order)
        if last.frame is not None:
            yield from (one for one in _calls(last.frame.function) if one.order < last.call.order)

    def _written(self, call: Call) -> Expression | None:
        """Return the path of a file that a call writes."""
        writes = self._project.writes.of(call.scope.script)
        return next((write.path for write in writes if write.call is call), None)

    def _read(self, call: Call) -> Expression | None:
        """Return the path of a file that a call reads."""
        names = self._project.names(call.callee)
        given = [one for one in call.arguments if not one.star]
        if not given or len(given) != len(call.arguments) or given[0].keyword not in (None, "f", "file", "filename"):
            return None
        if names <= _READS:
            return given[0].value
        if not names <= _OPENS:
            return None
        mode = next((one.value for one in given[1:] if one.keyword in (None, "mode")), None)
        reads = mode is None or (isinstance(mode, Constant) and mode.value in ("r", "rb", "rt"))
        return given[0].value if reads else None

    def _removed(self, call: Call) -> Expression | None:
        """Return the path of what a call removes or moves away."""
        if self._project.names(call.callee) <= _REMOVES and call.arguments and not call.arguments[0].star:
            return call.arguments[0].value
        is_unlink = isinstance(call.callee, Attribute) and call.callee.name == "unlink"
        return call.callee.base if is_unlink and isinstance(call.callee, Attribute) else None

    def _waits(self, call: Call) -> bool | None:
        """Whether a call lets the ranks wait for each other; None: that can't be seen."""
        if self._project.collectives.may_meet(call) or _MAY_WAIT.search(last_name(call.callee)):
            return True
        if self._project.collectives.runs(call) is not None:
            return False
        known = UNKNOWN_NAME not in self._project.names(call.callee)
        return False if known or _QUIET.fullmatch(last_name(call.callee)) else None


def _calls(function: Function) -> Sequence[Call]:
    return function.script.calls_in(function)
