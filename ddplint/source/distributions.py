"""Installed distributions, told from the names and the bytes of their metadata.

`importlib.metadata` costs more than linting a script; it is imported only when there is something for it to find.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path


def installed_version(name: str) -> tuple[int, int] | None:
    """Return the (major, minor) version of an installed distribution, None when there is none."""
    for folder in _metadata_folders():
        match = re.match(rf"{name}-(\d+)\.(\d+)", folder.name)
        if match:
            return int(match[1]), int(match[2])
    return None


def entry_points_mention(group: str) -> bool:
    """Whether any installed distribution may announce entry points of a group."""
    return any(group.encode() in _content(folder / "entry_points.txt") for folder in _metadata_folders())


def _metadata_folders() -> Iterator[Path]:
    for entry in dict.fromkeys(sys.path):
        folder = Path(entry or ".")
        if folder.is_dir():
            yield from folder.glob("*.dist-info")
            yield from folder.glob("*.egg-info")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # most distributions announce nothing
        return b""
