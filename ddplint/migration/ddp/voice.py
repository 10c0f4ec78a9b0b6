"""One voice: what writes files, makes folders, draws bars and downloads is done by one process for all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ddplint.edits import CannotEdit
from ddplint.migration.ddp.effects import Effect, effect_of, is_of_library
from ddplint.migration.ddp.helpers import FIRST_ON_NODE
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.reached import ReachedCode
from ddplint.project.passes import Purpose
from ddplint.semantics import Attribute, Call
from ddplint.semantics.reaching import reaching
from ddplint.semantics.shown import shown
from ddplint.semantics.speech import is_whole_statement
from ddplint.semantics.structure import RegionKind

FIRST = "if dist.get_rank() == 0:"
_IN_FILE = frozenset({"write", "writelines", "writerow", "writerows", "close", "flush", "format", "join", "item"})


class Voice:
    """Finds the statements that are for one process, and puts them under a test of the rank."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._guarded: dict[int, Any] = {}
        self._inside: set[int] = set()
        self._muted: set[int] = set()

    @property
    def guarded(self) -> set[int]:
        """The nodes of everything that stands in a guarded statement."""
        return self._inside

    def find(self) -> None:
        """Look at every call that the script can come to; raises Refused for what it is not known how to share."""
        reached = ReachedCode(self._job.project, self._job.script)
        if reached.unread:
            names = ", ".join(sorted({unread.name for unread in reached.unread}))
            self._job.note(self._job.at, f"{names} can't be read: what is written there, every process writes")
        for call in reached.calls():
            effect = effect_of(self._job.project, call)
            if effect is not Effect.NONE:
                at = f"{Path(call.scope.script.path).name} calls {shown(call.callee)} in every process"
                self._job.note(self._job.at, f"{at}: {effect.value}")
        calls = [(call, effect_of(self._job.project, call)) for call in self._job.script.calls]
        for call, effect in calls:
            if effect is Effect.WRITES and self._stays_open(call):
                self._mute(call)
            elif effect in (Effect.WRITES, Effect.MAKES_FOLDER):
                self._guard(self._place(call, effect), call)
        for call, effect in calls:
            if effect is Effect.BAR:
                self._quieten(call)
            elif effect is Effect.DOWNLOADS:
                self._one_at_a_time(call)
            elif effect is Effect.UNKNOWN and id(call.node) not in self._inside and not self._is_muted(call):
                self._job.note(call, f"{shown(call.callee)} may do something that only one process should do")
        self._check_inside()

    def _stays_open(self, call: Call) -> bool:
        """Whether a file is opened to be written into later."""
        opens = self._job.project.names(call.callee) <= {"builtins.open"}
        return opens and bool(call.arguments) and next(self._withs(call), None) is None

    def _mute(self, call: Call) -> None:
        """Have all processes but the first write to nowhere: what they write stays in place."""
        first = call.arguments[0]
        if first.star or first.keyword not in (None, "file"):
            raise Refused("the path of the file that is opened can't be seen", call)
        text = f"{self._job.text(first.value)} if dist.get_rank() == 0 else os.devnull"
        edits = self._job.editor.replace_argument(first.node, text)
        self._job.edit(edits, "one process writes the file, the others to nowhere")
        self._muted.add(id(call))

    def _is_muted(self, call: Call) -> bool:
        """Whether a method writes to a file that only the first process has, itself or by way of a table."""
        origins = self._job.project.origins(call.callee.base) if isinstance(call.callee, Attribute) else ()
        made = [self._file_of(origin) for origin in origins if isinstance(origin, Call)]
        return bool(made) and len(made) == len(origins) and all(id(file) in self._muted for file in made)

    def _file_of(self, made: Call) -> object:
        """Return the call that opened the file of a table, or the call itself."""
        if not self._job.project.names(made.callee) <= {"csv.writer", "csv.DictWriter"} or not made.arguments:
            return made
        return next(iter(self._job.project.origins(made.arguments[0].value)), made)

    def _place(self, call: Call, effect: Effect) -> Any:
        """Return the statement to be guarded."""
        region = call.region
        if not is_whole_statement(call):
            context = next((region for region in self._withs(call)), None)
            if context is None:
                raise Refused(f"what {shown(call.callee)} gives is used by all processes", call)
            return context
        if effect is Effect.MAKES_FOLDER and region.kind is RegionKind.BRANCH and region.holds:
            test: Any = region.node
            alone = len(getattr(test.body, "body", ())) == 1 and test.orelse is None
            if alone and not region.implied and type(test).__name__ == "If" and not _is_elif(test, region):
                return test
        return call.statement.node

    def _withs(self, call: Call) -> Iterator[Any]:
        node: Any = call.statement.node
        if any(getattr(item, "item", None) is call.node for item in getattr(node, "items", ())):
            yield node

    def _guard(self, node: Any, call: Call) -> None:
        if id(call.node) in self._inside:
            return
        self._guarded[id(node)] = node
        self._inside |= {id(below) for below in _below(node)}

    def apply(self) -> None:
        """Write the tests of the rank."""
        for node in self._guarded.values():
            if not any(node is not other and id(node) in _ids(other) for other in self._guarded.values()):
                self._statement(node, FIRST, "one process writes for all")

    def _statement(self, node: Any, header: str, reason: str) -> None:
        try:
            self._job.edit(self._job.editor.guard_statement(node, header), reason)
        except CannotEdit as error:
            raise Refused(f"a statement can't be put under a test of the rank: {error}") from None

    def _check_inside(self) -> None:
        """What one process does alone must not wait for the others, nor make what they need."""
        for call in self._job.script.calls:
            if id(call.node) in self._inside and not self._is_quiet(call):
                raise Refused(f"{shown(call.callee)} stands where only one process comes", call)
        for scope in self._job.script.scopes:
            for bindings in scope.bindings.values():
                for binding in bindings:
                    if id(binding.node) in self._inside:
                        self._check_reads(binding.name, binding)

    def _is_quiet(self, call: Call) -> bool:
        project = self._job.project
        if effect_of(project, call) in (Effect.WRITES, Effect.MAKES_FOLDER):
            return True
        if effect_of(project, call) is Effect.NONE and is_of_library(project.names(call.callee)):
            return True
        if project.names(call.callee) <= {"csv.writer", "csv.DictWriter", "json.dump", "pickle.dump", "builtins.print"}:
            return True
        in_file = isinstance(call.callee, Attribute) and call.callee.name in _IN_FILE
        return in_file or project.omissions.is_quiet(call)

    def _check_reads(self, name: str, binding: Any) -> None:
        for read in self._job.script.names:
            if read.id == name and id(read.node) not in self._inside and binding in (reaching(read.id, read) or ()):
                raise Refused(f"{name} is made where only one process comes, and used elsewhere", read)

    def _quieten(self, call: Call) -> None:
        if any(argument.keyword == "disable" or argument.star for argument in call.arguments):
            raise Refused("the progress bar has a switch of its own", call)
        node: Any = call.node
        self._job.edit(
            self._job.editor.insert_argument(node, "disable=dist.get_rank() != 0"), "one progress bar for all processes"
        )

    def _one_at_a_time(self, call: Call) -> None:
        """The first process of each node downloads, the others find what it has downloaded."""
        node: Any = call.statement.node
        small = getattr(node, "body", ())
        only = small[0] if isinstance(small, tuple | list) and len(small) == 1 else None
        if call.region.loops or id(call.node) in self._inside:
            raise Refused("a download stands in a loop, or where only one process comes", call)
        if self._is_in_training_loader(call):
            self._job.downloads.append(call)  # its dataset gets a line of its own
        elif type(only).__name__ == "Assign" or is_whole_statement(call):
            self._statement(node, f"with {self._job.helper(FIRST_ON_NODE)}():", "one process of each node downloads")
        else:
            raise Refused("a download stands inside another statement", call, "give the dataset a line of its own")

    def _is_in_training_loader(self, call: Call) -> bool:
        loaders = self._job.project.loaders(self._job.script)
        training = [loader.call for loader in loaders if loader.purpose is Purpose.TRAINING]
        return any(part is call for loader in training for part in loader.walk())


def _is_elif(node: Any, region: Any) -> bool:
    outer = region.parent
    return outer is not None and outer.kind is RegionKind.BRANCH and getattr(outer.node, "orelse", None) is node


def _below(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(current.children)


def _ids(node: Any) -> set[int]:
    return {id(below) for below in _below(node)}
