"""One migration at work: the script, and what has been gathered for it so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.findings import Edit
from ddplint.migration.ddp.outcome import Change
from ddplint.project import Project
from ddplint.semantics import Call, Expression, Script
from ddplint.source import Position

if TYPE_CHECKING:
    from ddplint.edits import Editor


@dataclass(slots=True)
class Job:
    """What the parts of a migration work with, and where they put their edits and notes.

    ``at`` is the DataParallel that is moved. ``helpers`` names the functions that have to be written into the script,
    in the order of their first use, ``downloads`` the calls in a training loader that fetch its dataset.
    """

    project: Project
    script: Script
    editor: Editor
    at: Call
    changes: list[Change] = field(default_factory=list)
    notes: list[tuple[Expression, str]] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    downloads: list[Call] = field(default_factory=list)

    def edit(self, edits: Iterable[Edit], reason: str) -> None:
        """Take in edits and what they are for; one that is there already is not made twice."""
        known = {edit for change in self.changes for edit in change.edits}
        fresh = tuple(edit for edit in edits if edit not in known)
        if fresh:
            self.changes.append(Change(reason, fresh))

    def note(self, at: Expression, text: str) -> None:
        """Take in a point that the author has to look at; one in another file is told of where the wrap stands."""
        if at.scope.script is not self.script:
            at, text = self.at, f"{Path(at.scope.script.path).name}: {text}"
        if (at, text) not in self.notes:
            self.notes.append((at, text))

    def helper(self, name: str) -> str:
        """Ask for a helper function; return its name."""
        if name not in self.helpers:
            self.helpers.append(name)
        return name

    def position(self, expression: Expression) -> Position:
        """Return where an expression begins."""
        (edit,) = self.editor.insert_before(expression.node, "")
        return edit.start

    def text(self, expression: Expression) -> str:
        """Return an expression as it stands in the file."""
        return self.editor.source_text(expression.node)
