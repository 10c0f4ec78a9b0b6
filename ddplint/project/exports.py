"""Whether other files read a name that a file binds at its top level."""

from __future__ import annotations

from pathlib import Path

from ddplint.project.files import ProjectFiles
from ddplint.project.scripts import Scripts
from ddplint.semantics import Constant, Name, Operation, Sequence
from ddplint.semantics.names import MODULE, NameResolver
from ddplint.semantics.structure import Scope, ScopeKind


class Exports:
    """Finds the names that files hand to each other."""

    def __init__(self, files: ProjectFiles, scripts: Scripts, names: NameResolver) -> None:
        self._files = files
        self._scripts = scripts
        self._names = names
        self._known: dict[tuple[Path, str], bool] = {}

    def is_read_elsewhere(self, scope: Scope, name: str) -> bool:
        """Whether code in other files may read a name of a scope.

        So it is for a name of a package's ``__init__``, for one that ``__all__`` may list, and for one that a file of
        the project imports, also by a star.
        """
        if scope.kind is not ScopeKind.MODULE:
            return False
        home = self._scripts.path_of(scope.script)
        if home is None or home.name == "__init__.py" or _is_listed(scope, name):
            return True
        if (home, name) not in self._known:
            self._known[home, name] = False  # what a star import that goes round in a circle gets
            self._known[home, name] = any(self._reads(other, home, name) for other in self._files.importers(home))
        return self._known[home, name]

    def _reads(self, path: Path, home: Path, name: str) -> bool:
        other = self._scripts.at(path)
        if other is None:
            return True
        if any(self._files.module(star, path) == home for star in other.scope.stars):
            handed_on = any(read.id == name for read in other.names) or self.is_read_elsewhere(other.scope, name)
            return name not in other.scope.bindings and handed_on
        if any(self._is_member(full, path, home, name) for full, _, _ in other.imports):
            return True
        return any(
            attribute.name == name and self._is_module(base, path, home)
            for attribute in other.attributes
            for base in self._names.names(attribute.base)
        )

    def _is_member(self, full: str, path: Path, home: Path, name: str) -> bool:
        module, _, member = full.rpartition(".")
        return member == name and self._files.module(module if module.strip(".") else f"{module}.", path) == home

    def _is_module(self, base: str, path: Path, home: Path) -> bool:
        return base.startswith(MODULE) and self._files.module(base.removeprefix(MODULE), path) == home


def _is_listed(scope: Scope, name: str) -> bool:
    """Whether ``__all__`` lists a name, or is made in a way that can't be read."""
    values = [binding.value for binding in scope.bindings.get("__all__", ()) if binding.value is not None]
    parts = [part for value in values for part in value.walk()]
    return any(
        part.value == name if isinstance(part, Constant) else not isinstance(part, (Sequence, Operation, Name))
        for part in parts
    )
