"""Where a project begins."""

from __future__ import annotations

from pathlib import Path

_MARKERS = ("pyproject.toml", "setup.py", ".git")


def project_root(path: Path) -> Path:
    """Return the nearest folder upward from a file that marks a project, else the folder that it is imported from.

    That is the file's own folder, or the one around its outermost package.
    """
    folder = path.resolve().parent
    for candidate in (folder, *folder.parents):
        if any((candidate / marker).exists() for marker in _MARKERS):
            return candidate
    while (folder / "__init__.py").exists() and folder.parent != folder:
        folder = folder.parent
    return folder
