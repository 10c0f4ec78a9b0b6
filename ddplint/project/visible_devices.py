"""CUDA_VISIBLE_DEVICES set too late, or to one GPU for all, or mixed up with how the visible GPUs are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Constant, Expression, FormattedText, Script
from ddplint.semantics.alike import alike
from ddplint.semantics.environment import EnvironmentWrite, WriteForm
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"
# Calls that make a number of their own: how many there are, or the place of one.
_COUNTS = frozenset({"len", "range", "index", "device_count", "enumerate", "count"})
_TEXTS = frozenset({"builtins.str", "builtins.int"})


class VisibleMisuse(Enum):
    """What is wrong with a place."""

    ORDINAL = "an id from the variable is used to count the GPUs that are left"
    LATE = "it is set when the GPUs have been counted"
    PINNED = "every process of several sees the same GPU only"


@dataclass(frozen=True, slots=True)
class VisibleUse:
    """A place where the variable is misused: ``at`` is the index, or the value that is set; ``other`` explains it."""

    misuse: VisibleMisuse
    at: Expression
    other: Expression


class VisibleDevices:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def misuses(self, script: Script) -> Iterator[VisibleUse]:
        """Yield the misuses of a script, of the indices that come from one place the first in each function.

        What is set for a child of the process is no misuse.
        """
        writes = [
            write
            for write in self._project.environment_writes(script, VISIBLE_DEVICES)
            if write.form is not WriteForm.CHILD
        ]
        yield from self._ordinals(script, writes)
        for write in writes if not self._project.launches(script) else ():
            counted = self._project.cuda_starts.counted_before(write.at.region, write.at.order)
            if counted is not None:
                yield VisibleUse(VisibleMisuse.LATE, write.value, counted)
        for write in writes:
            if self._is_pinned(write):
                yield VisibleUse(VisibleMisuse.PINNED, write.value, write.value)

    def _ordinals(self, script: Script, writes: list[EnvironmentWrite]) -> Iterator[VisibleUse]:
        reads = {id(read.at) for read in self._project.environment_reads(script) if read.variable == VISIBLE_DEVICES}
        told: set[tuple[int, int]] = set()
        for use in self._project.devices.of(script) if reads or writes else ():
            source = self._id_behind(use.index, reads) or self._same_as_set(use.index, writes)
            key = (id(source), id(use.call.scope.function))
            if source is not None and key not in told:
                told.add(key)
                yield VisibleUse(VisibleMisuse.ORDINAL, use.index, source)

    def _id_behind(self, index: Expression, reads: set[int]) -> Expression | None:
        """Return where the variable is read of which an index is one of the ids."""
        pieces = self._project.dependence.pieces(index, stop=lambda piece, _: last_name(piece) in _COUNTS)
        return next((piece for piece, _ in pieces if id(piece) in reads), None)

    def _same_as_set(self, index: Expression, writes: list[EnvironmentWrite]) -> Expression | None:
        """Return what the variable was set to before, where an index is the very number."""
        for write in writes:
            number = self._bare(write.value)
            if (
                write.form is not WriteForm.DEFAULT
                and not isinstance(number, Constant)
                and write.at.order < index.order
                and index.region.within(write.at.region)
                and alike(number, self._bare(index))
            ):
                return write.value
        return None

    def _bare(self, value: Expression) -> Expression:
        """Return a number without what makes it a text: ``str(gpu)``, ``f"{gpu}"``."""
        if isinstance(value, FormattedText) and len(value.pieces) == 1 and isinstance(value.pieces[0], Expression):
            return self._bare(value.pieces[0])
        if isinstance(value, Call) and len(value.arguments) == 1 and self._project.certainly(value.callee, *_TEXTS):
            return self._bare(value.arguments[0].value)
        return value

    def _is_pinned(self, write: EnvironmentWrite) -> bool:
        """Whether each of several processes, or the parent of them, sets the variable to one and the same GPU."""
        values = self._project.constants(write.value)
        if values is None or len(values) != 1 or write.form is WriteForm.DEFAULT:
            return False
        is_one = all(str(value).strip().isdigit() for value in values)
        return is_one and not self._project.switches.decide(write.at) and self._starts_several(write)

    def _starts_several(self, write: EnvironmentWrite) -> bool:
        if self._project.launches(write.at.region.scope.script):
            return True
        return self._project.processes.all_come_to(write.value, early=True)
