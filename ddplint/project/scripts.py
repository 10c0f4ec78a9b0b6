"""The scripts of a project: each file parsed once, when a question needs it."""

from __future__ import annotations

from pathlib import Path

from ddplint.errors import SourceError
from ddplint.project.files import ProjectFiles
from ddplint.semantics import Script
from ddplint.source import SourceFile, shown_path
from ddplint.source.limits import refusal


class Scripts:
    """From paths to scripts and back."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._scripts: dict[Path, Script | None] = {}
        self._paths: dict[int, Path] = {}

    def add(self, script: Script, path: Path) -> None:
        """Take in a script that was parsed elsewhere, so that its file is not parsed again."""
        self._scripts[path] = script
        self._paths[id(script)] = path

    def at(self, path: Path) -> Script | None:
        """Return the script of a file, None when the file can't be read or parsed."""
        if path not in self._scripts:
            script = self._parsed(path)
            self._scripts[path] = script
            if script is not None:
                self._paths[id(script)] = path
        return self._scripts[path]

    def path_of(self, script: Script) -> Path | None:
        """Return the file of a script, None for one that is not of this project."""
        return self._paths.get(id(script))

    def _parsed(self, path: Path) -> Script | None:
        from ddplint.semantics.parse import parse  # imports libcst, which no other path through here needs

        data = self._files.content(path)
        if not data or refusal(data) is not None:
            return None
        try:
            return parse(SourceFile.from_bytes(data, shown_path(path, Path.cwd())))
        except SourceError:
            return None
