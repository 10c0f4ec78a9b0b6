"""Imports followed from file to file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ddplint.project.files import ProjectFiles
from ddplint.project.scripts import Scripts
from ddplint.semantics import Script
from ddplint.semantics.names import Definition
from ddplint.semantics.structure import BindingKind

# Packages whose star imports are taken to bind the names that a script uses and nobody else defines.
_STARRED = ("torch", "torchvision")


class Imports:
    """Finds what a script imports from the files of its project."""

    def __init__(self, files: ProjectFiles, scripts: Scripts) -> None:
        self._files = files
        self._scripts = scripts
        self._known: dict[tuple[Path, str], Definition | None] = {}
        self._searching: set[tuple[Path, str]] = set()

    def definition(self, script: Script, name: str) -> Definition | None:
        """Return the bindings of an imported name in the project file that defines it; no bindings: a module."""
        importer = self._scripts.path_of(script)
        if importer is None:
            return None
        key = (importer, name)
        if key in self._known:
            return self._known[key]
        if key in self._searching:
            return None  # star imports may go round in a circle
        self._searching.add(key)
        try:
            found = self._search(importer, name)
        finally:
            self._searching.discard(key)
        if not self._searching:
            self._known[key] = found
        return found

    def _search(self, importer: Path, name: str) -> Definition | None:
        dots = len(name) - len(name.lstrip("."))
        parts = name[dots:].split(".")
        for split in range(len(parts), -1 if dots else 0, -1):
            path = self._files.module(name[:dots] + ".".join(parts[:split]), importer)
            found = None if path is None or path == importer else self._scripts.at(path)
            if found is None:
                continue
            return (found, ()) if split == len(parts) else self._member(found, parts[split:])
        return None

    def _member(self, script: Script, parts: Sequence[str]) -> Definition | None:
        if len(parts) != 1:
            return None
        bindings = script.scope.bindings.get(parts[0])
        if bindings:
            return (script, [binding for binding in bindings if binding.kind is not BindingKind.DELETE])
        for star in script.scope.stars:
            definition = self.definition(script, f"{star}.{parts[0]}")
            if definition is not None:
                return definition
        return None

    def star(self, script: Script, module: str, name: str) -> bool:
        """Whether ``from module import *`` in a script binds ``name``; of modules outside the project: it may."""
        importer = self._scripts.path_of(script)
        if importer is None or self._files.module(module, importer) is None:
            return module.partition(".")[0] in _STARRED
        return self.definition(script, f"{module}.{name}") is not None
