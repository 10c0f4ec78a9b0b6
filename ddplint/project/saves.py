"""Files that every rank writes under one path, and the line at which a test of the rank would belong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.project.sameness import Sameness
from ddplint.project.writes import FileWrite, WriteKind
from ddplint.semantics import Attribute, Call, Expression, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.launchers import launched
from ddplint.semantics.speech import holds_rank, names_process
from ddplint.semantics.structure import Function, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Functions whose business it is to save: whether they run is decided where they are called.
_SAVES = re.compile(
    r"(?:^|_)(?:save|dump|write|export|store|serialize)(?:_|$|[A-Z])|^_?(?:save|dump|write|export|store)"
    r"|^_?(?:checkpoint|snapshot|take_snapshot|make_checkpoint)$"
)
_LOOKS = re.compile(r"exists|isfile|is_file|isdir|is_dir")
_SHARDED = ("torch.distributed.checkpoint.", "torch.distributed.fsdp.")
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class SharedSave:
    """A call that every rank makes, and what it writes, under the same paths on each of them."""

    place: Call
    writes: Sequence[FileWrite]


class Saves:
    """Answers for the scripts of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._below: dict[tuple[int, Frame | None], tuple[tuple[FileWrite, Frame | None], ...]] = {}
        self._may_writes: dict[int, bool] = {}
        self._writing: dict[int, dict[int, FileWrite]] = {}

    def of(self, script: Script, kind: WriteKind) -> Iterator[SharedSave]:
        """Yield the calls of a script by which every rank writes a file of one path, where it would need one rank.

        A helper that saves is looked at from its callers, one of which may have a test. A file that is written where
        none was found is a cache and left out, and so is what functions download.
        """
        for call in script.calls:
            found = [(write, frame) for write, frame in self._at(call, None) if write.kind is kind]
            if not found or _downloads(call.scope.function) or self._is_asked_for(call.scope.function):
                continue
            if not self._project.processes.all_come_to(call, early=True) or is_where_none_was(call):
                continue
            shared = [
                write for write, frame in found if self._is_shared(write, frame) and not self._is_joint(call, write)
            ]
            if shared:
                yield SharedSave(call, shared)

    def _at(self, call: Call, frame: Frame | None) -> Sequence[tuple[FileWrite, Frame | None]]:
        """Return the files that a call certainly writes, itself or in the helpers that it leads to."""
        own = self._own(call)
        if own is not None:
            return [(own, frame)]
        function = self._helper(call)
        if function is None or (frame is not None and frame.depth >= _DEEPEST) or not self._may_write(function):
            return ()
        return self._inside(Frame(function, call, frame))

    def _own(self, call: Call) -> FileWrite | None:
        """Return the file that a call itself writes."""
        script = call.scope.script
        if id(script) not in self._writing:
            self._writing[id(script)] = {id(write.call): write for write in self._project.writes.of(script)}
        return self._writing[id(script)].get(id(call))

    def _helper(self, call: Call) -> Function | None:
        """Return the function that a call runs, where it is called for saving something."""
        return self._project.resolver.function_of(call) if _SAVES.search(last_name(call.callee)) else None

    def _may_write(self, function: Function) -> bool:
        """Whether a function writes a file, or leads to one that does."""
        if id(function) not in self._may_writes:
            self._may_writes[id(function)] = False  # what a function that calls itself gets
            calls = function.script.calls_in(function)
            helpers = (self._helper(call) for call in calls)
            self._may_writes[id(function)] = any(self._own(call) is not None for call in calls) or any(
                helper is not None and self._may_write(helper) for helper in helpers
            )
        return self._may_writes[id(function)]

    def _inside(self, frame: Frame) -> Sequence[tuple[FileWrite, Frame | None]]:
        key = (id(frame.call), frame.outer)
        if key not in self._below:
            self._below[key] = ()  # what a function that calls itself gets
            calls = frame.function.script.calls_in(frame.function)
            coming = [call for call in calls if not self._may_miss(call, frame)]
            self._below[key] = tuple(found for call in coming for found in self._at(call, frame))
        return self._below[key]

    def _may_miss(self, call: Call, frame: Frame) -> bool:
        if self._project.selective.may_miss(call, of_options=False) or is_where_none_was(call):
            return True
        return self._project.rank_outcomes.processes(call.region, frame) != self._project.rank_outcomes.processes(
            frame.function.region, frame
        )

    def _is_shared(self, write: FileWrite, frame: Frame | None) -> bool:
        if write.kind is WriteKind.LOG and self._says_who(write.call):
            return False
        return self._project.same_values.of(write.path, frame) is Sameness.SAME

    def _says_who(self, opened: Call) -> bool:
        """Whether a line that is written into an open file names the process that it comes from."""
        for line in opened.scope.script.calls_in(opened.scope.function):
            holders = [given.value for given in line.arguments if given.keyword == "file"]
            if isinstance(line.callee, Attribute) and line.callee.name in ("write", "writelines"):
                holders.append(line.callee.base)
            written = any(opened in self._project.origins(holder) for holder in holders)
            if written and (names_process(line) or holds_rank(line, self._project.rank_values, self._project.resolver)):
                return True
        return False

    def _is_joint(self, place: Call, write: FileWrite) -> bool:
        """Whether a helper collects a sharded state before it writes, for which all ranks have to call it."""
        if write.call is place:
            return False
        calls = write.call.scope.script.calls_in(write.call.scope.function)
        return any(name.startswith(_SHARDED) for call in calls for name in self._project.names(call.callee))

    def _is_asked_for(self, function: Function | None) -> bool:
        """Whether a function saves, and others call it for that."""
        if function is None or not _SAVES.search(function.name):
            return False
        calls, _ = self._project.callers(function)
        return any(launched(self._project.resolver, call) is None for call in calls)


def is_where_none_was(at: Expression) -> bool:
    """Whether a place is come to only where a file is, or is not there yet."""
    tests = (region.test for region in at.region.chain() if region.kind is RegionKind.BRANCH)
    return any(_LOOKS.search(last_name(part)) for test in tests if test is not None for part in test.walk())


def _downloads(function: Function | None) -> bool:
    return function is not None and "download" in function.name
