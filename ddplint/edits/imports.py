"""Imports: added once beside the others, names taken out of them."""

from __future__ import annotations

import re
import sys
from functools import cached_property

import libcst as cst

from ddplint.edits.bindings import Imported, bound_names, imports_of
from ddplint.edits.errors import CannotEdit
from ddplint.edits.layout import Layout
from ddplint.edits.sequences import remove_item
from ddplint.edits.statements import insert_after, is_docstring, remove
from ddplint.errors import Defect
from ddplint.findings import Edit


class Imports:
    """The imports at the top level of a file."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lines = [line for line in layout.page.module.body if isinstance(line, cst.SimpleStatementLine)]

    def add(self, line: str) -> tuple[Edit, ...]:
        """Insert an import unless the file has it; see ``Editor.add_import``."""
        wanted = _parsed(line)
        if any(imported.provides(wanted) for top in self._lines for imported in _imported(top)):
            return ()
        if any(name == wanted.name and target != wanted.target for name, target in self._bound):
            raise CannotEdit(f"the name {wanted.name!r} stands for something else in this file")
        if self._is_conditional(wanted.root):
            raise CannotEdit(f"{wanted.root!r} is imported under a condition only")
        layout, anchor = self._layout, self._anchor(wanted.root)
        if anchor is not None:
            blank = () if _is_import(anchor) and "__future__" not in _roots(anchor) else ("",)
            return insert_after(layout, anchor, (*blank, line))
        body = layout.page.module.body
        if not body:
            return (layout.lines_at(len(layout.page.text), (line,), ""),)
        return (layout.lines_at(layout.page.line_start(layout.page.statement_start(body[0])), (line, ""), ""),)

    def remove_name(self, statement: cst.Import | cst.ImportFrom, alias: cst.ImportAlias) -> tuple[Edit, ...]:
        """Take a name out of an import, or remove the import of that name alone."""
        names = () if isinstance(statement.names, cst.ImportStar) else statement.names
        index = next((index for index, name in enumerate(names) if name is alias), None)
        if index is None:
            raise CannotEdit("the name belongs to another import")
        return remove(self._layout, statement) if len(names) == 1 else (remove_item(self._layout.page, names, index),)

    @cached_property
    def _bound(self) -> frozenset[tuple[str, str]]:
        return frozenset(bound_names(self._layout.page.module))

    def _is_conditional(self, root: str) -> bool:
        """Whether a package that may be missing is imported, but never at the top level."""
        if root in sys.stdlib_module_names or any(root in _roots(line) for line in self._lines):
            return False
        indented = rf"^[ \t]+(?:from|import)[ \t]+{re.escape(root)}\b"
        return re.search(indented, self._layout.page.text, re.MULTILINE) is not None

    def _anchor(self, root: str) -> cst.SimpleStatementLine | None:
        """The line to insert after.

        The last import before the first other statement. A package that is first imported after other statements
        stays after them: they may set what it reads while it is imported.
        """
        leading = self._leading_lines()
        of_root = [line for line in self._lines if root in _roots(line)]
        if of_root and of_root[0] not in leading:
            return of_root[0]
        return leading[-1] if leading else None

    def _leading_lines(self) -> list[cst.SimpleStatementLine]:
        """The docstring and the imports that follow it."""
        leading: list[cst.SimpleStatementLine] = []
        for line in self._layout.page.module.body:
            is_first = not leading
            if not isinstance(line, cst.SimpleStatementLine):
                break
            if not _is_import(line) and not (is_first and is_docstring(line.body[0])):
                break
            leading.append(line)
        return leading


def _parsed(line: str) -> Imported:
    statement = cst.parse_statement(line)
    imported = list(_imported(statement)) if isinstance(statement, cst.SimpleStatementLine) else []
    if len(imported) != 1:
        raise Defect(f"{line!r} does not import one name")
    return imported[0]


def _imported(line: cst.SimpleStatementLine) -> list[Imported]:
    return [imported for small in line.body for imported in imports_of(small)]


def _roots(line: cst.SimpleStatementLine) -> set[str]:
    return {imported.root for imported in _imported(line)}


def _is_import(line: cst.SimpleStatementLine) -> bool:
    return all(isinstance(small, cst.Import | cst.ImportFrom) for small in line.body)
