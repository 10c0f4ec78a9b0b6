"""Outcomes by file and by what they were worked out from. Whatever is wrong with the cache, the files are linted."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddplint.engine.cache.folder import FOLDER, prepare
from ddplint.engine.cache.records import from_record, to_record
from ddplint.engine.cache.stamp import stamp
from ddplint.engine.outcomes import Linted

if TYPE_CHECKING:
    from ddplint.engine.run import Linter
    from ddplint.project.project import Project

_LAYOUT = 1


class OutcomeCache:
    """What earlier runs with the same rules and settings found, for as long as it holds."""

    def __init__(self, linter: Linter, cwd: Path) -> None:
        self._workspace = linter.workspace
        self._folder = linter.settings.root / FOLDER
        self._cwd = cwd
        self._stamp = stamp(linter.settings, linter.selected, cwd)
        self._shelves: dict[Path, _Shelf] = {}

    def find(self, path: Path, shown: str, data: bytes) -> Linted | None:
        """Return what was found in a file that holds ``data``, None when that is not known any more."""
        return self._shelf(path).find(path.resolve(), shown, data)

    def keep(self, path: Path, data: bytes, outcome: Linted) -> None:
        """Remember what was found in a file that holds ``data``."""
        if not outcome.defects:
            self._shelf(path).keep(path.resolve(), data, outcome)

    def save(self) -> None:
        """Write down what is new; a cache that can't be written is none."""
        for shelf in self._shelves.values():
            with suppress(OSError):
                shelf.save()

    def _shelf(self, path: Path) -> _Shelf:
        project = self._workspace.project(path)
        root = project.files.root
        if root not in self._shelves:
            self._shelves[root] = _Shelf(project, self._folder, self._cwd, self._stamp)
        return self._shelves[root]


class _Shelf:
    """The outcomes of one project: one file of the cache folder, replaced as a whole.

    An entry holds the digests of the project and of the file's program, and the outcome. The first is cheap to
    compare; the second tells, after a change somewhere, which files it does not concern.
    """

    def __init__(self, project: Project, folder: Path, cwd: Path, stamp: str) -> None:
        self._digests = project.digests
        self._cwd = cwd
        self._stamp = stamp
        place = hashlib.blake2b(f"{project.files.root}\n{stamp}".encode("utf-8", "surrogatepass"), digest_size=12)
        self._file = folder / f"{place.hexdigest()}.json"
        self._entries = self._read()
        self._new: dict[str, list[Any]] = {}

    def find(self, path: Path, shown: str, data: bytes) -> Linted | None:
        entry = self._entries.get(shown)
        try:
            content, everything, program, record = entry or ("", "", "", [])
            if content != _digest(data):
                return None
            if everything != self._digests.everything:
                if program != self._digests.program(path):
                    return None
                self._new[shown] = [content, self._digests.everything, program, record]
            outcome = from_record(record)
        except (ValueError, TypeError, KeyError):
            return None
        return outcome if outcome.path == shown else None

    def keep(self, path: Path, data: bytes, outcome: Linted) -> None:
        self._new[outcome.path] = [
            _digest(data),
            self._digests.everything,
            self._digests.program(path),
            to_record(outcome),
        ]

    def save(self) -> None:
        if not self._new:
            return
        prepare(self._file.parent)
        # Another run may have written since this one began: what it found holds as well.
        known = {**self._read(), **self._new}
        entries = {shown: entry for shown, entry in known.items() if (self._cwd / shown).exists()}
        content = json.dumps([_LAYOUT, self._stamp, entries], separators=(",", ":"))
        descriptor, name = tempfile.mkstemp(dir=self._file.parent, suffix=".new")
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(content)
            os.replace(name, self._file)
        except OSError:
            os.unlink(name)
            raise

    def _read(self) -> dict[str, Any]:
        try:
            layout, stamp, entries = json.loads(self._file.read_bytes())
        except (OSError, ValueError, TypeError, RecursionError):
            return {}
        valid = layout == _LAYOUT and stamp == self._stamp and isinstance(entries, dict)
        return entries if valid else {}


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
