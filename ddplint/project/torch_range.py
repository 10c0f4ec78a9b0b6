"""Which versions of torch a project is for, read from its metadata and never by importing anything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from ddplint.source.distributions import installed_version

Version: TypeAlias = tuple[int, int]

_FILES = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "requirements/*.txt",
    "requirements-*.txt",
    "environment.yml",
    "environment.yaml",
)
_CLAUSE = re.compile(r"([=<>~!^]=?=?)\s*(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class TorchRange:
    """The lowest and the highest torch (major, minor) that code is for; None where nothing says."""

    lowest: Version | None = None
    highest: Version | None = None

    def allows(self, version: Version) -> bool:
        """Whether the code may run on this version or a newer one."""
        return self.highest is None or self.highest >= version

    def guarantees(self, version: Version) -> bool:
        """Whether the code never runs on a torch older than this version, as far as anybody said."""
        return self.lowest is None or self.lowest >= version


def torch_range(root: Path) -> TorchRange:
    """Return the range that the requirements of a project give torch, else the installed torch, else anything."""
    ranges = [found for text in _metadata(root) for found in _ranges(text)]
    if not ranges:
        return _installed()
    lows = [found.lowest for found in ranges if found.lowest is not None]
    highs = [found.highest for found in ranges]
    unbounded = None in highs
    return TorchRange(min(lows, default=None), None if unbounded else max(high for high in highs if high is not None))


def _metadata(root: Path) -> list[str]:
    return [_text(path) for pattern in _FILES for path in sorted(root.glob(pattern))]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # a file that can't be read says nothing
        return ""


@cache
def _requirement() -> re.Pattern[str]:
    # Compiled when there is metadata to read: it costs as much as importing this module.
    return re.compile(
        r"""(?<![\w.-])(?:torch|pytorch)(?![\w-])\s*(?:\[[^\]]*\])?["']?\s*(?:[:=]\s*)??["'(]?\s*"""
        r"""(?P<clauses>(?:(?:[=<>~!^]=?=?)\s*\d+(?:\.\d+)*(?:[\w.+*-]*)\s*,?\s*)+)"""
    )


def _ranges(text: str) -> list[TorchRange]:
    return [_range(match["clauses"]) for match in _requirement().finditer(text)]


def _range(clauses: str) -> TorchRange:
    lowest: Version | None = None
    highest: Version | None = None
    for operator, major, minor in _CLAUSE.findall(clauses):
        version = (int(major), int(minor or 0))
        if operator in ("==", "=", "==="):
            lowest = highest = version
        elif operator in (">=", ">", "~=", "^"):
            lowest = version
        elif operator == "<=":
            highest = version
        elif operator == "<":
            highest = before(version)
    return TorchRange(lowest, highest)


def before(version: Version) -> Version:
    """Return the newest version that is older than this one; torch has never had a hundred minor versions."""
    major, minor = version
    return (major, minor - 1) if minor else (major - 1, 99)


def _installed() -> TorchRange:
    found = installed_version("torch")
    return TorchRange() if found is None else TorchRange(found, None)
