"""Imports of ``torch.cuda.amp`` and ``torch.cpu.amp`` rewritten together with every use of the names they bind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ddplint.findings import Edit
from ddplint.migration.amp_uses import UseRewriter, reads_of
from ddplint.migration.errors import CannotMigrate
from ddplint.semantics.structure import Binding, BindingKind, Scope
from ddplint.semantics.torch_names import canonical

OLD_MODULES = ("torch.cuda.amp", "torch.cpu.amp")
OLD_NAMES = tuple(
    f"{module}.{member}" for module in OLD_MODULES for member in ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
)


@dataclass(frozen=True, slots=True)
class BoundName:
    """A name in the scope that binds it."""

    scope: Scope
    name: str

    @property
    def bindings(self) -> list[Binding]:
        return self.scope.bindings[self.name]

    @property
    def is_old(self) -> bool:
        """Whether imports of what has moved, and nothing else, bind the name."""
        moved = (*OLD_MODULES, *OLD_NAMES)
        return all(
            binding.kind is BindingKind.IMPORT and canonical(binding.imported) in moved for binding in self.bindings
        )


class ImportRewriter:
    """Rewrites the imports of one name, and of all names that are imported beside it where these can be followed."""

    def __init__(self, uses: UseRewriter) -> None:
        self._uses = uses
        self._editor = uses.editor

    def edits(self, bound: BoundName) -> tuple[Edit, ...]:
        """Return the edits of the imports that bind a name, and of every use; raises CannotMigrate."""
        group = _imported_together(bound)
        try:
            return self._edits_of(group)
        except CannotMigrate:
            return self._edits_of([bound])

    def _edits_of(self, group: list[BoundName]) -> tuple[Edit, ...]:
        found = [edit for bound in group for edit in self._edits_of_uses(bound)]
        moved = {id(binding.node) for bound in group for binding in bound.bindings}
        statements = {id(binding.statement.node): binding for bound in group for binding in bound.bindings}
        for binding in statements.values():
            found += self._edits_of_statement(binding, moved)
        return tuple(dict.fromkeys(found))

    def _edits_of_uses(self, bound: BoundName) -> Iterator[Edit]:
        if not bound.is_old or self._uses.project.is_read_elsewhere(bound.scope, bound.name):
            raise CannotMigrate(f"{bound.name} is bound or read elsewhere, too")
        references = self._uses.project.references_in(bound.scope.script)
        for read in reads_of(bound.scope, bound.name):
            reference = references.through(read, *OLD_NAMES)
            if reference is None or reference.is_fallback:
                raise CannotMigrate(f"{bound.name} is used for something else, too")
            yield from self._uses.edits(reference, "")

    def _edits_of_statement(self, binding: Binding, moved: set[int]) -> Iterator[Edit]:
        statement = _import_of(binding)
        aliases = list(statement.names)
        moving = [alias for alias in aliases if id(alias) in moved]
        if not hasattr(statement, "module"):
            for alias in moving:
                _, _, path = self._editor.source_text(alias.name).split(".", 2)
                yield from self._editor.replace(alias.name, f"torch.{path}")
        elif len(moving) == len(aliases):
            yield from self._editor.replace(statement.module, self._new_module(statement.module))
        elif len(moving) == 1:
            line = f"from {self._new_module(statement.module)} import {self._alias(moving[0])}"
            yield from self._editor.remove_from_import(statement, moving[0])
            yield from self._editor.insert_statements_after(binding.statement.node, (line,))
        else:
            raise CannotMigrate("only some names of an import can be followed")

    def _alias(self, alias: Any) -> str:
        name = self._editor.source_text(alias.name)
        return name if alias.asname is None else f"{name} as {self._editor.source_text(alias.asname.name)}"

    def _new_module(self, module: Any) -> str:
        """Return the module to import from instead of one: ``torch`` where ``amp`` itself is taken."""
        return "torch" if self._editor.source_text(module).count(".") == 1 else "torch.amp"


def _imported_together(bound: BoundName) -> list[BoundName]:
    """Return a name and all names that are imported by the same statements, and so on."""
    group = [bound]
    for member in group:
        statements = {id(binding.statement) for binding in member.bindings}
        group += [
            beside
            for name, bindings in member.scope.bindings.items()
            if any(id(binding.statement) in statements for binding in bindings)
            and (beside := BoundName(member.scope, name)) not in group
        ]
    return group


def _import_of(binding: Binding) -> Any:
    """Return the node of the import that binds a name; its statement may be a whole line."""
    node: Any = binding.statement.node
    line = getattr(node, "body", ())
    return line[0] if line else node
