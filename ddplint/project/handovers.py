"""Files that one rank writes or removes and other ranks read, with nothing between that lets them wait."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.project.sameness import Sameness
from ddplint.semantics import Attribute, Call, Constant, Expression, Script
from ddplint.semantics.alike import alike
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

_OPENS = frozenset({"builtins.open", "io.open"})
_READS = frozenset(
    {"torch.load", "torch.jit.load", "numpy.load", "safetensors.torch.load_file", "pandas.read_csv", "joblib.load"}
)
_REMOVES = frozenset({"os.remove", "os.unlink", "shutil.rmtree", "os.rename", "os.replace", "shutil.move"})
# What may let the ranks wait for each other though its code can't be seen.
_MAY_WAIT = re.compile(r"barrier|sync|wait|everyone|broadcast|gather|reduce|backward|join(?!$)", re.IGNORECASE)
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

    ``doubtful``: something stands between them of which it can't be seen whether it waits.
    """

    at: Call
    other: Call
    path: Expression
    kind: HandoverKind
    doubtful: bool


class Handovers:
    """Finds them in scripts, where both calls stand in one function."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Handover]:
        """Yield the files that are read, or removed, before the ranks have waited for each other."""
        for function in (None, *script.functions):
            calls = script.calls_in(function)
            reads = [(call, path) for call in calls if (path := self._read(call)) is not None]
            if reads:
                yield from self._of_function(calls, reads, function, script)

    def _of_function(
        self, calls: Sequence[Call], reads: Sequence[tuple[Call, Expression]], function: Function | None, script: Script
    ) -> Iterator[Handover]:
        writes = [
            (one.call, one.path) for one in self._project.writes.of(script) if one.call.scope.function is function
        ]
        removals = [(call, path) for call in calls if (path := self._removed(call)) is not None]
        for read, path in reads:
            for kind, others in ((HandoverKind.READ, writes), (HandoverKind.REMOVAL, removals)):
                for other, other_path in others:
                    first, last = (other, read) if kind is HandoverKind.READ else (read, other)
                    if not self._is_handed_over(read, path, other, other_path, first.order < last.order):
                        continue
                    waits = [self._waits(call) for call in calls if first.order < call.order < last.order]
                    if True not in waits:
                        yield Handover(last, first, path, kind, None in waits)

    def _is_handed_over(self, read: Call, path: Expression, other: Call, other_path: Expression, ordered: bool) -> bool:
        """Whether all ranks read a file that one rank writes, or removes, in the same pass."""
        if not ordered or read.region.excludes(other.region) or not alike(path, other_path):
            return False
        if self._project.same_values.of(path) is not Sameness.SAME:
            return False
        if not any(not read.region.within(tested) for _, tested in self._project.rank_tests.guards(other.region)):
            return False
        return self._project.processes.all_come_to(read, early=True)

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
