"""Digests of what the answers about a file are worked out from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddplint.project.project import Project


class Digests:
    """Digests over the files of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files = project.files
        self._known: dict[Path, bytes] = {}

    @cached_property
    def everything(self) -> str:
        """A digest of the project: while it stays, every answer stays. Only reading and hashing is needed for it."""
        return self._joined(self._line(path) for path in self._files.paths)

    def program(self, path: Path) -> str:
        """Return a digest of the files that run together with a file, and of which imports which."""
        program = self._files.program(path)
        return self._joined(
            b"\0".join([self._line(file), *(bytes(imported) for imported in self._files.imports(file))])
            for file in program
        )

    def of(self, path: Path) -> bytes:
        """Return a digest of a file's bytes."""
        if path not in self._known:
            self._known[path] = hashlib.blake2b(self._files.content(path), digest_size=16).digest()
        return self._known[path]

    def _line(self, path: Path) -> bytes:
        return bytes(path) + b"\0" + self.of(path)

    def _joined(self, lines: Iterable[bytes]) -> str:
        # The versions of torch come from files that are not Python, and from what is installed.
        parts = [repr(self._project.torch).encode(), str(self._files.complete).encode(), *lines]
        return hashlib.blake2b(b"\n".join(parts), digest_size=16).hexdigest()
