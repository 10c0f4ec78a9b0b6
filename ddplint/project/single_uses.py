"""What uses an object that a single process should have: the statements that a test of the rank has to reach, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.speech import is_whole_statement
from ddplint.semantics.structure import BindingKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_FIRST = frozenset([0])


class SingleUses:
    """Answers for objects, and for modules that keep one object for everybody."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of_object(self, made: Call) -> Sequence[Call] | None:
        """Return the statements, run by other ranks than the first, that use what a call makes.

        None: a name does not simply get it, or its uses are not all in sight, calls of its methods, statements of
        their own and in the same function.
        """
        if not _is_assigned(made):
            return None
        trail = self._project.trail(made)
        held = [reached.at for reached in trail.reached if reached.at is not made]
        local = all(isinstance(at, Name) and at.scope.function is made.scope.function for at in held)
        return self._statements(made, held) if trail.complete and not trail.stores and local else None

    def of_module(self, started: Call, module: str) -> Sequence[Call] | None:
        """Return the statements, run by other ranks than the first, that call a module after it was started.

        None: other files of the program name the module, or something else than a statement of its own uses it.
        """
        script = started.scope.script
        path = self._project.scripts.path_of(script)
        others = [other for other in self._project.program_of(script) if other != path]
        if any(module.encode() in self._project.files.content(other) for other in others):
            return None
        return self._statements(started, self._reads(script, module))

    def _reads(self, script: Script, module: str) -> Iterator[Name]:
        bound = {
            name
            for name, bindings in script.scope.bindings.items()
            for binding in bindings
            if binding.kind is BindingKind.IMPORT and binding.imported.partition(".")[0] == module
        }
        return (name for name in script.names if name.id in bound)

    def _statements(self, made: Call, reads: Sequence[Expression] | Iterator[Expression]) -> Sequence[Call] | None:
        places = [at for at in reads if at.statement is not made.statement and not self._is_for_first(at)]
        lines = {id(call.statement): call for call in made.scope.script.calls if is_whole_statement(call)}
        used = {id(at.statement): lines.get(id(at.statement)) for at in places}
        found = [line for line in used.values() if line is not None and _is_method_call(line)]
        return found if len(found) == len(used) else None

    def _is_for_first(self, at: Expression) -> bool:
        """Whether only the first rank comes to an expression."""
        return self._project.rank_outcomes.processes(at.region) == _FIRST


def _is_method_call(line: Call) -> bool:
    return isinstance(line.callee, Attribute) and isinstance(line.callee.base, Name)


def _is_assigned(made: Call) -> bool:
    """Whether a statement does nothing but give a name what a call makes."""
    line: Any = made.statement.node
    small = getattr(line, "body", ())
    alone = small[0] if isinstance(small, tuple | list) and len(small) == 1 else None
    targets: Any = getattr(alone, "targets", ())
    named = len(targets) == 1 and type(targets[0].target).__name__ == "Name"
    return named and getattr(alone, "value", None) is made.node
