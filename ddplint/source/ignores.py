"""Patterns of .gitignore files and of the ``exclude`` setting, read as git reads them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec.pattern import RegexPattern

# The group in which pathspec keeps the slash behind a folder that a pattern names, when the path lies in it.
_INSIDE = "ps_d"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a .gitignore file; ``leaves_out`` is False for those that start with an exclamation mark.

    pathspec says what a line means for names. What it means for folders is decided here, because pathspec answers
    for whole paths: it also says yes for what lies in a folder that the line names, and folders in between count
    differently then (``*`` and ``!*/`` and ``!keep.py`` together keep nothing).
    """

    regex: RegexPattern
    leaves_out: bool
    only_folders: bool

    def matches(self, path: str, is_folder: bool) -> bool:
        """Whether the pattern names a path, relative to the pattern's folder and without a final slash."""
        if self.only_folders and not is_folder:
            return False
        result = self.regex.match_file(path)
        return result is not None and result.match.groupdict().get(_INSIDE) is None


@dataclass(frozen=True, slots=True)
class Ignores:
    """What is left out in one folder: pairs of a folder, ending in ``/``, and its patterns, the last one first.

    The pairs are in the order in which they are asked: the nearest folder first. All paths are absolute, real and
    written with ``/``; those of folders end in ``/``.
    """

    rules: tuple[tuple[str, tuple[Pattern, ...]], ...] = ()

    def covers(self, path: str) -> bool:
        """Whether a path is left out, given that the folders above it are not."""
        for folder, patterns in self.rules:
            if not path.startswith(folder):
                continue
            relative = path[len(folder) :].removesuffix("/")
            for pattern in patterns:
                if pattern.matches(relative, path.endswith("/")):
                    return pattern.leaves_out
        return False

    def entering(self, folder: str) -> Ignores:
        """Return what is left out in a folder, given what is left out around it; a repository begins anew."""
        own = tuple(
            (folder, patterns) for name in (".gitignore", ".git/info/exclude") if (patterns := _read(folder + name))
        )
        return Ignores(own if is_repository(folder) else own + self.rules)


def ignores_in(folder: str) -> Ignores:
    """Return what git leaves out in a folder, with the rules of the folders above it up to the repository's root.

    A folder that is itself left out was asked for all the same: the rules that say so are dropped.
    """
    ignores = Ignores()
    for outer in folders_down_to(folder, _root_of(folder)):
        ignores = (Ignores() if ignores.covers(outer) else ignores).entering(outer)
    return ignores


def is_ignored(path: str) -> bool:
    """Whether git leaves out a path, or a folder around it."""
    folder = parent_of(path)
    ignores = Ignores()
    for outer in folders_down_to(folder, _root_of(folder)):
        if ignores.covers(outer):
            return True
        ignores = ignores.entering(outer)
    return ignores.covers(path)


def patterns_of(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """Compile lines of a .gitignore file, the last one first; raises ValueError for one that is no pattern."""
    patterns = [pattern for line in lines if (pattern := _pattern(line)) is not None]
    return tuple(reversed(patterns))


def is_repository(folder: str) -> bool:
    """Whether a folder is the root of a git repository."""
    return os.path.exists(folder + ".git")


def folders_down_to(folder: str, root: str) -> list[str]:
    """Return the folders from ``root`` to ``folder``, both included."""
    inner = folder[len(root) :].split("/")[:-1]
    return [root + "".join(f"{name}/" for name in inner[:count]) for count in range(len(inner) + 1)]


def parent_of(path: str) -> str:
    """Return the folder around a path, or an empty string."""
    return path[: path.rstrip("/").rfind("/") + 1]


def _root_of(folder: str) -> str:
    """The root of the repository around a folder; the folder itself where there is none."""
    outer = folder
    while outer and not is_repository(outer):
        outer = parent_of(outer)
    return outer or folder


def _read(path: str) -> tuple[Pattern, ...]:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            lines = [line.rstrip("\r\n") for line in file]
    except OSError:
        return ()
    return patterns_of(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    """Git passes over lines that are none."""
    try:
        return _pattern(line) is not None
    except ValueError:
        return False


@lru_cache(maxsize=1000)
def _pattern(line: str) -> Pattern | None:
    """The pattern on a line; None for blank lines and comments."""
    # Costs more than everything else here, and is not needed where nothing is left out.
    from pathspec import GitIgnoreSpec
    from pathspec.pattern import RegexPattern

    bare = line.rstrip()
    only_folders = bare.endswith("/")
    for regex in GitIgnoreSpec.from_lines([bare[:-1] if only_folders else line]).patterns:
        if isinstance(regex, RegexPattern) and regex.include is not None:
            return Pattern(regex, regex.include, only_folders)
    return None
