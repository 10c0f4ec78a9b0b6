"""Which files a run is about."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ddplint.config import Settings
from ddplint.errors import PathError, SettingError, nearest
from ddplint.source.ignores import Ignores, Pattern, folders_down_to, ignores_in, is_ignored, parent_of, patterns_of

USUAL_EXCLUDES = frozenset(
    (
        *(".git", ".hg", ".svn", ".bzr", ".direnv", ".venv", "venv", "node_modules", "site-packages"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"),
        *(".tox", ".nox", ".eggs", "build", "dist"),
    )
)
# A folder that holds one of these is an environment with other people's code, whatever its name.
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")


@dataclass(frozen=True, slots=True)
class Discovered:
    """The files to lint, each once and in order, and what could not be searched, with the reason."""

    files: tuple[Path, ...]
    skipped: tuple[tuple[Path, str], ...]


def discover(paths: Sequence[Path], settings: Settings, cwd: Path) -> Discovered:
    """Return the named files and the ``*.py`` files in the named folders; relative paths start at ``cwd``.

    Folders are searched without following links, and without what git ignores, what ``settings.exclude`` names and
    what is usually not one's own code. What is named is taken as it is, unless ``settings.force_exclude`` is on.
    Raises PathError for a path that does not exist, SettingError for an ``exclude`` pattern that says nothing.
    """
    search = _Search(settings)
    for path in paths:
        search.take(os.fspath(cwd / path), shown=os.fspath(path))
    return search.discovered()


class _Found(NamedTuple):
    # In this order: where two are the same file, the one that is no link comes first.
    is_link: bool
    path: str
    real: str


class _Search:
    def __init__(self, settings: Settings) -> None:
        self._root = _real(os.fspath(settings.root), is_folder=True)
        self._excludes = Ignores(((self._root, _exclude_patterns(settings)),))
        self._force_exclude = settings.force_exclude
        self._searched: set[str] = set()
        self._found: list[_Found] = []
        self._skipped: list[tuple[str, str]] = []

    def take(self, path: str, shown: str) -> None:
        """Take in what the user named, and wrote as ``shown``."""
        is_folder = _is_folder(path, shown)
        real = _real(path, is_folder)
        if self._force_exclude and self._is_excluded(real):
            return
        if is_folder:
            self._search(path, ignores_in(real))
        else:
            self._found.append(_Found(os.path.islink(path), path, real))

    def discovered(self) -> Discovered:
        """Return each file once: by its own name rather than by that of a link to it."""
        files: dict[str, str] = {}
        for found in sorted(self._found):
            files.setdefault(found.real, found.path)
        return Discovered(
            tuple(Path(path) for path in sorted(files.values())),
            tuple((Path(path), reason) for path, reason in sorted(self._skipped)),
        )

    def _search(self, top: str, ignores: Ignores) -> None:
        waiting = [(top, ignores)]
        while waiting:
            folder, ignores = waiting.pop()
            real = _real(folder, is_folder=True)
            if real in self._searched:
                continue
            self._searched.add(real)
            for entry in self._entries(folder):
                inner = real + entry.name
                if entry.is_dir(follow_symlinks=False):
                    inner += "/"
                    if not (_is_foreign(inner) or self._excludes.covers(inner) or ignores.covers(inner)):
                        waiting.append((entry.path, ignores.entering(inner)))
                elif _is_python(entry.name) and not (self._excludes.covers(inner) or ignores.covers(inner)):
                    self._take_entry(entry, inner)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except OSError as error:
            self._skipped.append((folder, f"cannot be read: {error.strerror or error}"))
            return []

    def _take_entry(self, entry: os.DirEntry[str], real: str) -> None:
        if entry.is_file(follow_symlinks=False):
            self._found.append(_Found(False, entry.path, real))
        elif os.path.isfile(entry.path):
            self._found.append(_Found(True, entry.path, _real(entry.path, is_folder=False)))
        elif not os.path.exists(entry.path):
            self._skipped.append((entry.path, "a link to nothing"))
        elif not os.path.isdir(entry.path):
            self._skipped.append((entry.path, "not a regular file"))

    def _is_excluded(self, real: str) -> bool:
        """Whether a search from the root would leave out a path that the user named."""
        folder = real if real.endswith("/") else parent_of(real)
        if folder.startswith(self._root):
            for outer in folders_down_to(folder, self._root)[1:]:
                if _is_foreign(outer) or self._excludes.covers(outer):
                    return True
        return self._excludes.covers(real) or is_ignored(real)


def _exclude_patterns(settings: Settings) -> tuple[Pattern, ...]:
    try:
        return patterns_of(settings.exclude)
    except ValueError as error:
        raise SettingError(f"exclude: {error}") from None


def _is_folder(path: str, shown: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise PathError(f"no such file or folder: {shown}{_nearest_name(path)}") from None
    except OSError as error:
        raise PathError(f"{shown}: cannot be read: {error.strerror or error}") from None


def _nearest_name(path: str) -> str:
    """The entry that is spelled most like the first part of a path that does not exist."""
    while not os.path.exists(folder := os.path.dirname(path) or os.curdir):
        path = folder
    try:
        return nearest(os.path.basename(path), os.listdir(folder))
    except OSError:
        return ""


def _is_python(name: str) -> bool:
    # Emacs marks a file that is being edited with a link of such a name to nothing.
    return name.endswith(".py") and not name.startswith(".#")


def _is_foreign(folder: str) -> bool:
    """Whether a folder, ending in ``/``, usually holds what is not one's own code."""
    name = folder[len(parent_of(folder)) : -1]
    return name in USUAL_EXCLUDES or any(os.path.exists(folder + mark) for mark in _ENVIRONMENT_MARKS)


def _real(path: str, is_folder: bool) -> str:
    real = Path(os.path.realpath(path)).as_posix()
    return f"{real}/" if is_folder and not real.endswith("/") else real
