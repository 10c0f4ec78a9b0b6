"""From ``torch.cuda.amp`` and ``torch.cpu.amp`` to ``torch.amp``: one use by itself, or an import with all its uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.findings import Applicability, Edit, Fix
from ddplint.migration.amp_imports import BoundName, ImportRewriter
from ddplint.migration.amp_uses import UseRewriter, device_of, torch_name
from ddplint.migration.errors import CannotMigrate
from ddplint.project import Project
from ddplint.semantics import Name
from ddplint.semantics.reaching import scope_of
from ddplint.semantics.references import Reference
from ddplint.semantics.structure import BindingKind

if TYPE_CHECKING:
    from ddplint.edits import Editor


@dataclass(frozen=True, slots=True)
class TorchAmpMove:
    """A use of an old name, and the way to its new one."""

    project: Project
    reference: Reference

    @property
    def new_name(self) -> str:
        """The name that takes the place of the old one."""
        return f"torch.amp.{self.reference.name.rpartition('.')[2]}"

    @property
    def device(self) -> str:
        """The device that the old module stands for."""
        return device_of(self.reference)

    def fix(self, editor: Editor) -> Fix | None:
        """Return the fix that moves the use, and with it the import that it needs; None where that can't be followed.

        A file that ran on torch 2.4 or newer does the same afterwards, without the warnings.
        """
        try:
            edits = self._edits(editor)
        except CannotMigrate:
            return None
        return Fix(Applicability.SAFE, f"Use `{self.new_name}`", edits)

    def _edits(self, editor: Editor) -> tuple[Edit, ...]:
        uses = UseRewriter(self.project, editor)
        root = self.reference.root
        scope = None if root is None else scope_of(root.id, root.region.scope)
        if root is None or scope is None:
            raise CannotMigrate("nothing in the file binds the name")
        bound = BoundName(scope, root.id)
        if bound.is_old:
            return ImportRewriter(uses).edits(bound)
        return uses.edits(self.reference, self._path(bound))

    def _path(self, bound: BoundName) -> str:
        """Return what a dotted expression that starts with a torch module becomes."""
        if isinstance(self.reference.expression, Name):
            raise CannotMigrate("the name comes from another file")
        imported = [binding.imported for binding in bound.bindings if binding.kind is BindingKind.IMPORT]
        if imported == ["torch"] * len(bound.bindings):
            return self.new_name.replace("torch", bound.name, 1)
        name = torch_name(self.reference.expression)
        if name is None or not all(path.startswith("torch.") for path in imported):
            raise CannotMigrate("torch itself is not at hand")
        return self.new_name.replace("torch", name, 1)
