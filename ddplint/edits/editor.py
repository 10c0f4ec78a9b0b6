"""The primitives that make edits from nodes, as rule authors see them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import libcst as cst

from ddplint.edits import arguments, statements
from ddplint.edits.errors import CannotEdit
from ddplint.edits.guard import guard
from ddplint.edits.imports import Imports
from ddplint.edits.layout import Layout
from ddplint.edits.page import Page
from ddplint.findings import Edit
from ddplint.source import SourceFile
from ddplint.source.spans import Spans


class Editor:
    """Makes edits of one file from its nodes.

    Every method returns the edits, in no order that matters, and raises CannotEdit for a shape that it does not
    understand. Nothing is rendered: edits insert and remove text, what they move is cut from the file as it is.

    A statement is a line of statements, one of the statements between its semicolons, or a compound statement.
    ``lines`` are new lines of code, indented by four spaces a level, without newlines; they get the indentation of
    the place, the unit of indentation and the newlines of the file. They must hold no string over several lines.
    """

    def __init__(self, source: SourceFile, module: cst.Module, spans: Spans) -> None:
        self._page = Page(source, module, spans)

    def source_text(self, node: cst.CSTNode) -> str:
        """The text of a node as it stands in the file, with an expression's own parentheses."""
        return self._page.cut(*self._page.outer(node))

    def replace(self, node: cst.CSTNode, text: str) -> tuple[Edit, ...]:
        """Replace a node; parentheses around an expression stay, so the text may run over as many lines."""
        return (self._page.edit(*self._page.inner(node), self._page.written(text)),)

    def insert_before(self, node: cst.CSTNode, text: str) -> tuple[Edit, ...]:
        """Insert text right before a node and the parentheses that it owns."""
        start, _ = self._page.outer(node)
        return (self._page.edit(start, start, self._page.written(text)),)

    def insert_after(self, node: cst.CSTNode, text: str) -> tuple[Edit, ...]:
        """Insert text right after a node and the parentheses that it owns."""
        _, end = self._page.outer(node)
        return (self._page.edit(end, end, self._page.written(text)),)

    def insert_argument(self, call: cst.CSTNode, text: str, *, first: bool = False) -> tuple[Edit, ...]:
        """Insert an argument last among those of its kind, or before all others.

        A positional argument goes before keywords, a keyword before ``**`` arguments. Raises CannotEdit when the call
        has an argument with that keyword.
        """
        return (arguments.insert_argument(self._page, _as_call(call), self._page.written(text), first=first),)

    def remove_argument(self, call: cst.CSTNode, argument: cst.Arg) -> tuple[Edit, ...]:
        """Remove an argument, its comma, and the line that it had for itself."""
        return (arguments.remove_argument(self._page, _as_call(call), argument),)

    def replace_argument(self, argument: cst.Arg, text: str) -> tuple[Edit, ...]:
        """Replace the value of an argument with the parentheses it owns; keyword and stars stay."""
        return (self._page.edit(*self._page.outer(argument.value), self._page.written(text)),)

    def insert_statements_before(self, statement: cst.CSTNode, lines: Sequence[str]) -> tuple[Edit, ...]:
        """Insert lines above a statement and above the comments that stand right on top of it."""
        return statements.insert_before(self._layout, statement, lines)

    def insert_statements_after(self, statement: cst.CSTNode, lines: Sequence[str]) -> tuple[Edit, ...]:
        """Insert lines below a statement and below the comments that end its block."""
        return statements.insert_after(self._layout, statement, lines)

    def insert_first_in_block(self, compound: cst.CSTNode, lines: Sequence[str]) -> tuple[Edit, ...]:
        """Insert lines where the block of a compound statement starts, or after a docstring there."""
        return statements.insert_first(self._layout, compound, lines)

    def remove_statement(self, statement: cst.CSTNode) -> tuple[Edit, ...]:
        """Remove a statement and the comment on its line; the only statement of a block becomes ``pass``."""
        return statements.remove(self._layout, statement)

    def guard_statement(self, statement: cst.CSTNode, header: str) -> tuple[Edit, ...]:
        """Put a statement under a header such as ``if rank == 0:``; what its strings hold does not change."""
        return guard(self._layout, statement, header)

    def add_import(self, line: str) -> tuple[Edit, ...]:
        """Insert an import of one name at the top level; no edit when the file has it.

        It goes after the imports that follow the docstring. A package that the file first imports further down is
        added to there: the statements before may set what it reads. Raises CannotEdit when the name stands for
        something else at the top level, or when the package is imported under a condition only.
        """
        return self._imports.add(line)

    def remove_from_import(self, statement: cst.Import | cst.ImportFrom, alias: cst.ImportAlias) -> tuple[Edit, ...]:
        """Take a name out of an import; the import goes when it was its only name."""
        return self._imports.remove_name(statement, alias)

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self._page)

    @cached_property
    def _imports(self) -> Imports:
        return Imports(self._layout)


def _as_call(node: cst.CSTNode) -> cst.Call:
    if not isinstance(node, cst.Call):
        raise CannotEdit("only calls have arguments")
    return node
