"""A function that has another name today: its use by a full name, or its import with every use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ddplint.findings import Edit
from ddplint.migration.amp_uses import reads_of
from ddplint.project import Project
from ddplint.semantics import Attribute, Name
from ddplint.semantics.reaching import scope_of
from ddplint.semantics.references import Reference, Use
from ddplint.semantics.structure import BindingKind, Scope
from ddplint.semantics.torch_names import canonical

if TYPE_CHECKING:
    from ddplint.edits import Editor


@dataclass(frozen=True, slots=True)
class Rename:
    """A use of an old name, the new name in the same module, and an argument that it wants in front, if any."""

    project: Project
    reference: Reference
    new: str
    first: str = ""

    def edits(self, editor: Editor) -> tuple[Edit, ...]:
        """Return the edits that rename the use, and its import with all other uses; none where one can't be followed.

        An import is left alone where other files read its name, and where the new name means something else.
        """
        if isinstance(self.reference.expression, Attribute):
            return tuple(self._edits_of_use(self.reference, editor)) if self._is_plain(self.reference) else ()
        return tuple(dict.fromkeys(self._edits_of_import(self.reference.expression, editor)))

    def _is_plain(self, reference: Reference) -> bool:
        """Whether a use can be renamed by itself."""
        return not reference.is_fallback and (not self.first or reference.use is Use.CALLED)

    def _edits_of_use(self, reference: Reference, editor: Editor) -> Iterator[Edit]:
        expression = reference.expression
        base = f"{editor.source_text(expression.base.node)}." if isinstance(expression, Attribute) else ""
        yield from editor.replace(expression.node, base + self.new)
        yield from self._edits_of_arguments(reference, editor)

    def _edits_of_arguments(self, reference: Reference, editor: Editor) -> Iterator[Edit]:
        if self.first and reference.call is not None:
            yield from editor.insert_argument(reference.call.node, self.first, first=True)

    def _edits_of_import(self, name: Name, editor: Editor) -> Iterator[Edit]:
        scope = scope_of(name.id, name.region.scope)
        keeps_name = name.id != self.reference.name.rpartition(".")[2]
        if scope is None or not self._is_imported(scope, name) or not (keeps_name or self._is_free(scope)):
            return
        references = self.project.references_in(scope.script)
        uses = [references.through(read, self.reference.name) for read in reads_of(scope, name.id)]
        if any(use is None or not self._is_plain(use) for use in uses):
            return
        for use in uses:
            assert use is not None
            yield from self._edits_of_arguments(use, editor) if keeps_name else self._edits_of_use(use, editor)
        for binding in scope.bindings[name.id]:
            alias: Any = binding.node
            yield from editor.replace(alias.name, self.new)

    def _is_imported(self, scope: Scope, name: Name) -> bool:
        """Whether imports of the old name, and nothing else, bind a name that only this file reads."""
        bindings = scope.bindings[name.id]
        old = self.reference.name
        imported = all(one.kind is BindingKind.IMPORT and canonical(one.imported) == old for one in bindings)
        return imported and not self.project.is_read_elsewhere(scope, name.id)

    def _is_free(self, scope: Scope) -> bool:
        """Whether nothing in the file binds the new name."""
        script = scope.script
        return not any(self.new in one.bindings for one in (script.scope, *(made.scope for made in script.functions)))
