"""The cache folder: made with marks that keep it out of backups and repositories, removed by ``ddplint clean``."""

from __future__ import annotations

import shutil
from pathlib import Path

from ddplint.errors import PathError

FOLDER = ".ddplint_cache"
# Backup tools leave out folders with such a file: https://bford.info/cachedir/
_TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n"


def prepare(folder: Path) -> None:
    """Make the folder, where there is none; raises OSError when that can't be done."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in ((_TAG, _SIGNATURE), (".gitignore", "*\n")):
        if not (folder / name).exists():
            (folder / name).write_text(content)


def clean(root: Path) -> Path | None:
    """Remove the cache folder below a settings root and return it, None when there is none.

    Raises PathError when it can't be removed, or is not ours: a folder without the tag, or a link.
    """
    folder = root / FOLDER
    if not folder.exists():
        return None
    if folder.is_symlink() or not (folder / _TAG).is_file():
        raise PathError(f"{folder} was not made by ddplint and is left alone")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise PathError(f"{folder} cannot be removed: {error.strerror or error}") from None
    return folder
