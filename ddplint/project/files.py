"""The Python files of a project and which of them import which, read from their bytes without parsing."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from ddplint.project.modules import Modules

SEARCHED = 5000
PROGRAM = 300
_SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".venv",
        "venv",
        "env",
        "node_modules",
        "__pycache__",
        "build",
        "dist",
        "site-packages",
        ".tox",
        ".nox",
    }
)
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")


class ProjectFiles:
    """Every Python file below a root, at most ``SEARCHED`` of them; ``complete`` tells whether that was all.

    ``contents``: what files hold instead of what is on disk.
    """

    def __init__(self, root: Path, contents: Mapping[Path, bytes] | None = None) -> None:
        self.root = root
        self._bytes: dict[Path, bytes] = dict(contents or {})
        self._imports: dict[Path, tuple[Path, ...]] = {}
        self._programs: dict[Path, tuple[Path, ...]] = {}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files, sorted by folder and name."""
        found: list[Path] = []
        for path in _python_files(self.root):
            if len(found) == SEARCHED:
                break
            found.append(path)
        return tuple(found)

    @property
    def complete(self) -> bool:
        return len(self.paths) < SEARCHED

    @cached_property
    def _modules(self) -> Modules:
        return Modules(self.root, self.paths)

    @cached_property
    def _importers(self) -> dict[Path, list[Path]]:
        importers: dict[Path, list[Path]] = {}
        for path in self.paths:
            for imported in self.imports(path):
                importers.setdefault(imported, []).append(path)
        return importers

    def content(self, path: Path) -> bytes:
        """Return a file's bytes, empty when it can't be read."""
        if path not in self._bytes:
            try:
                self._bytes[path] = path.read_bytes()
            except OSError:
                self._bytes[path] = b""
        return self._bytes[path]

    def holds(self, path: Path, word: str) -> bool:
        """Whether a word occurs as a word in a file."""
        encoded = word.encode()
        return _holds(self.content(path), encoded)

    def module(self, name: str, importer: Path) -> Path | None:
        """Return the project file of a module as an importer names it (leading dots: relative), None for others."""
        return self._modules.find(name, importer)

    def imports(self, path: Path) -> tuple[Path, ...]:
        """Return the project files that a file imports."""
        if path not in self._imports:
            found = (self.module(name, path) for name in _imported(self.content(path)))
            self._imports[path] = tuple(dict.fromkeys(file for file in found if file is not None and file != path))
        return self._imports[path]

    def importers(self, path: Path) -> Sequence[Path]:
        """Return the project files that import a file."""
        return self._importers.get(path, ())

    def needed_by(self, path: Path) -> tuple[Path, ...]:
        """Return a file and the project files that it imports, directly or through others."""
        return tuple(_closure([path], self.imports, PROGRAM))

    def program(self, path: Path) -> tuple[Path, ...]:
        """Return the files that run together with a file: those that lead to it, and all that these import.

        The nearest come first, and at most ``PROGRAM`` files are followed each way.
        """
        if path not in self._programs:
            above = _closure([path], self.importers, PROGRAM)
            self._programs[path] = tuple(_closure(above, self.imports, PROGRAM))
        return self._programs[path]


def _holds(content: bytes, word: bytes) -> bool:
    """Whether a word stands in a text and is no part of a longer one."""
    start = content.find(word)
    while start >= 0:
        beside = content[max(start - 1, 0) : start] + content[start + len(word) : start + len(word) + 1]
        if not _WORD.search(beside):
            return True
        start = content.find(word, start + 1)
    return False


def _python_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.endswith(".egg-info"))
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(folder, name)


def _imported(content: bytes) -> Iterator[str]:
    """Yield the names that a file imports: modules, and members of modules, which may be modules too."""
    for match in _IMPORT.finditer(content):
        source, members, modules = match.groups()
        if source is not None:
            prefix = source.decode(errors="replace")
            yield prefix
            joint = "" if prefix.endswith(".") else "."
            for member in _WORD.findall(members):
                yield f"{prefix}{joint}{member.decode(errors='replace')}"
        else:
            for module in modules.split(b","):
                words = module.split()
                if words:
                    yield words[0].decode(errors="replace")


def _closure(start: Iterable[Path], step: Callable[[Path], Iterable[Path]], limit: int) -> list[Path]:
    seen = dict.fromkeys(start)
    pending = deque(seen)
    while pending and len(seen) < limit:
        for path in step(pending.popleft()):
            if path not in seen:
                seen[path] = None
                pending.append(path)
    return list(seen)
