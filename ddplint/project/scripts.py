"""The scripts of a project: each file parsed once, when a question needs it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from ddplint.errors import SourceError
from ddplint.project.files import ProjectFiles
from ddplint.semantics import Script
from ddplint.source import SourceFile, shown_path
from ddplint.source.limits import refusal

# The scripts of files by what these held; None for what can't be parsed.
Parsed: TypeAlias = dict[tuple[Path, bytes], Script | None]


class Scripts:
    """From paths to scripts and back. ``parsed`` is shared by projects that differ in what some files hold."""

    def __init__(self, files: ProjectFiles, parsed: Parsed | None = None) -> None:
        self._files = files
        self._parsed: Parsed = {} if parsed is None else parsed
        self._scripts: dict[Path, Script | None] = {}
        self._paths: dict[int, Path] = {}

    def add(self, script: Script, path: Path) -> None:
        """Take in a script that was parsed elsewhere, so that its file is not parsed again."""
        self._scripts[path] = script
        self._paths[id(script)] = path

    def at(self, path: Path) -> Script | None:
        """Return the script of a file, None when the file can't be read or parsed."""
        if path not in self._scripts:
            script = self._once_parsed(path)
            self._scripts[path] = script
            if script is not None:
                self._paths[id(script)] = path
        return self._scripts[path]

    def path_of(self, script: Script) -> Path | None:
        """Return the file of a script, None for one that is not of this project."""
        return self._paths.get(id(script))

    def _once_parsed(self, path: Path) -> Script | None:
        key = (path, self._files.content(path))
        if key not in self._parsed:
            self._parsed[key] = self._parse(path)
        return self._parsed[key]

    def _parse(self, path: Path) -> Script | None:
        from ddplint.semantics.parse import parse  # imports libcst, which no other path through here needs

        data = self._files.content(path)
        if not data or refusal(data) is not None:
            return None
        try:
            return parse(SourceFile.from_bytes(data, shown_path(path, Path.cwd())))
        except SourceError:
            return None
