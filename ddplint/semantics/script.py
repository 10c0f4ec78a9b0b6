"""One file, understood: what rules ask their questions of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import libcst as cst

    from ddplint.semantics.expressions import Attribute, Call, Expression, Name, Operation, Subscript
    from ddplint.semantics.repair import Repair
    from ddplint.semantics.structure import Class, Exit, Function, Loop, Region, Scope, Statement, Store
    from ddplint.source import SourceFile
    from ddplint.source.spans import Spans


class Placed(Protocol):
    """Whatever stands somewhere in a file: an expression, a binding, a store, a loop, an exit."""

    @property
    def node(self) -> cst.CSTNode: ...

    @property
    def statement(self) -> Statement: ...


@dataclass(eq=False)
class Script:
    """The facts of one file, each list in source order.

    ``repair``: what the tree was parsed from, where today's Python refuses the file (see semantics.repair).

    ``imports`` holds the full name of everything imported, with the statement and the region of the import.
    ``handlers`` holds the regions of the ``except`` clauses, ``asserted`` the tests of the assert statements,
    ``subscripts`` what is read by ``base[index]``, ``sliced`` those of them with a slice: ``base[a:b:c]``.
    """

    source: SourceFile
    module: cst.Module
    repair: Repair | None = None
    calls: list[Call] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    handlers: list[Region] = field(default_factory=list)
    asserted: list[Expression] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    subscripts: list[Subscript] = field(default_factory=list)
    sliced: list[Subscript] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    imports: list[tuple[str, Statement, Region]] = field(default_factory=list)
    scope: Scope = field(init=False)

    @property
    def parsed_text(self) -> str:
        """The text that the tree renders: the file's, or its repair, which is as long."""
        return self.source.text if self.repair is None else self.repair.text

    def original(self, name: str) -> str:
        """Return how a name of the tree is written in the file."""
        return name if self.repair is None else self.repair.original(name)

    @property
    def path(self) -> str:
        """The file's path as it is shown."""
        return self.source.path

    def statement_lines(self, at: Placed | cst.CSTNode, spans: Spans) -> tuple[int, int]:
        """Return the first and last line of the statement around a place, of a compound statement only its header."""
        statement: Statement | None = getattr(at, "statement", None)
        node: Any = at if statement is None else statement.node
        start, end = spans.of(node)
        body = getattr(node, "body", None)
        if body is not None and not isinstance(body, (list, tuple)):
            end = max(start, spans.whole(body)[0])
        last = self.source.position(end)
        first = self.source.position(start).line
        return first, max(first, last.line)

    def calls_in(self, function: Function | None) -> list[Call]:
        """Return the calls that stand in a function itself, None: outside all functions, in source order."""
        return self._calls_by_function.get(id(function), [])

    @cached_property
    def _calls_by_function(self) -> dict[int, list[Call]]:
        calls: dict[int, list[Call]] = {}
        for call in self.calls:
            calls.setdefault(id(call.scope.function), []).append(call)
        return calls

    @cached_property
    def attribute_stores(self) -> dict[str, list[Store]]:
        """What is put into attributes, by the attribute's name."""
        stores: dict[str, list[Store]] = {}
        for store in self.stores:
            if store.name is not None:
                stores.setdefault(store.name, []).append(store)
        return stores

    @cached_property
    def item_stores(self) -> list[Store]:
        """What is put into items: ``base[index] = value``."""
        return [store for store in self.stores if store.index is not None]

    @cached_property
    def imported_as(self) -> dict[str, set[str]]:
        """The names that imports bind, in any scope, by the last part of what is imported."""
        found: dict[str, set[str]] = {}
        for scope in self.scopes:
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    if binding.imported:
                        found.setdefault(binding.imported.rpartition(".")[2], set()).add(name)
        return found

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scope of the file and those of its functions and classes."""
        functions, classes = [each.scope for each in self.functions], [each.scope for each in self.classes]
        return (self.scope, *functions, *classes)
