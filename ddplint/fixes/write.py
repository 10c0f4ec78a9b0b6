"""A file written so that nobody ever sees half of it."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from ddplint.errors import SourceError

_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the content of an existing file; its mode and, where allowed, its owner stay.

    A symbolic link stays and the file that it names is written. Raises SourceError for a read-only file and for
    whatever the system refuses; the file then has its old content, and nothing lies beside it.
    """
    try:
        _replace(path.resolve(strict=True), data)
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror or error}") from None


def _replace(target: Path, data: bytes) -> None:
    known = target.stat()
    # Root may write anything: what the owner wanted is in the mode.
    if not known.st_mode & _ANY_WRITE or not os.access(target, os.W_OK):
        raise SourceError("cannot be written: the file is read-only")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _take_over(temporary, known)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _take_over(temporary: Path, known: os.stat_result) -> None:
    """Give the new file the owner and the mode of the old one; a change of owner clears bits of the mode."""
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(temporary, known.st_uid, known.st_gid)
    temporary.chmod(stat.S_IMODE(known.st_mode))
