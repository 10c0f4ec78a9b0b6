"""Files that the script writes: in a dry run they go to a folder beside the user's files, where reads look first."""

from __future__ import annotations

import builtins
import io
import os
import shutil
import sys
import tempfile
from typing import Any, Callable, Dict, Tuple

from ddplint.runtime.probe.hooks import Hooks
from ddplint.runtime.probe.plan import OVERLAY
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]
_CHANGES = frozenset("wax+")
_LARGEST = 64 << 20  # bytes of a file that is copied to be changed
_KEYS = 16  # of what is saved
_SYSTEM = ("/dev/", "/proc/", "/sys/")


class Files:
    """Turns the paths of what the script writes, and of what it reads back, to the overlay of the run."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._recorder = hooks.recorder
        self._overlay = os.path.join(self._recorder.folder, OVERLAY)
        self._dry = not self._recorder.plan.write
        self._stat = os.stat
        # The user's: always kept as they are.
        self._own = tuple(os.path.join(path, "") for path in (self._recorder.plan.root, os.getcwd()))
        self._folder = os.path.join(self._recorder.folder, "")
        # What is there to be written: temporary files, and the caches and settings of libraries.
        self._free = (*_SYSTEM, os.path.join(tempfile.gettempdir(), ""), os.path.expanduser("~/."))

    def patch(self) -> None:
        """Watch, and in a dry run divert, what the standard library opens and makes."""
        for owner in (builtins, io):
            self._hooks.replace(owner, "open", self._opened)
        self._hooks.replace(os, "mkdir", self._made)
        for name in ("remove", "unlink", "rmdir"):
            self._hooks.replace(os, name, self._removed)
        self._hooks.replace(shutil, "rmtree", self._removed)
        for name in ("rename", "replace"):
            self._hooks.replace(os, name, self._renamed)
        if self._dry:
            for name in ("stat", "lstat", "access", "chdir"):
                self._hooks.replace(os, name, self._looked_up)
            self._hooks.replace(os, "listdir", self._listed)
            self._hooks.replace(os, "scandir", self._scanned)
            self._hooks.replace(os, "open", self._opened_low)
            for name in ("chmod", "utime"):
                self._hooks.replace(os, name, self._touched)
            for name in ("link", "symlink"):
                self._hooks.replace(os, name, self._linked)

    def patch_serialization(self, hooks: Hooks, module: Any) -> None:
        """Watch ``torch.save`` and ``torch.load``."""

        def saving(original: Any) -> Any:
            def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
                path = hooks.attempt("torch.save", self._saved, f, obj)
                return original(obj, f if path is None else path, *args, **kwargs)

            return save

        def loading(original: Any) -> Any:
            def load(f: Any, *args: Any, **kwargs: Any) -> Any:
                location = args[0] if args else kwargs.get("map_location")
                path = hooks.attempt("torch.load", self._loaded, f, location)
                return original(f if path is None else path, *args, **kwargs)

            return load

        hooks.replace(module, "save", saving)
        hooks.replace(module, "load", loading)

    # What becomes of a path

    def _absolute(self, path: Any) -> str | None:
        """Return the absolute path of what may be a path, None for a descriptor and the like."""
        try:
            name = os.fsdecode(os.fspath(path))
        except TypeError:
            return None
        return os.path.abspath(name)

    def _diverted(self, absolute: str) -> str | None:
        """Return where a file is written in a dry run, None where it may be written as it is."""
        return self._overlay + absolute if self._is_kept(absolute) else None

    def _is_kept(self, absolute: str) -> bool:
        """Whether a dry run keeps the script from changing a file."""
        if not self._dry or absolute.startswith(self._folder):
            return False
        return absolute.startswith(self._own) or not absolute.startswith(self._free)

    def _present(self, absolute: str | None) -> str | None:
        """Return the copy of a file in the overlay, None where there is none."""
        if absolute is None or not self._is_kept(absolute):
            return None
        path = self._overlay + absolute
        return path if self._is_real(path) else None

    def _is_real(self, path: str) -> bool:
        """Whether there is such a file on the disk, whatever the script is told."""
        try:
            self._stat(path)
        except OSError:
            return False
        return True

    # What is done

    def _saved(self, f: Any, obj: Any) -> str | None:
        absolute = self._absolute(f)
        if absolute is None:  # an open file, which is known already
            return None
        target = self._diverted(absolute)
        self._recorder.write(Kind.SAVE, path=absolute, what="torch", diverted=target is not None, keys=_keys(obj))
        if target is not None and self._has_folder(absolute):
            _make_folder(target)
            return target
        return None

    def _has_folder(self, absolute: str) -> bool:
        """Whether the folder of a file exists, for the script: what it forgot to make is to fail as ever."""
        folder = os.path.dirname(absolute)
        return self._present(folder) is not None or os.path.isdir(folder)

    def _loaded(self, f: Any, location: Any) -> str | None:
        absolute = self._absolute(f)
        self._recorder.write(Kind.LOAD, path=absolute, map_location=None if location is None else str(location))
        return self._present(absolute)

    def _opened(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
            path = self._hooks.attempt("open", self._to_open, file, mode)
            return original(file if path is None else path, mode, *args, **kwargs)

        return opened

    def _to_open(self, file: Any, mode: Any) -> str | None:
        absolute = None if isinstance(file, int) else self._absolute(file)
        if absolute is None:
            return None
        if not _CHANGES & set(str(mode)):
            return self._present(absolute)
        if absolute.startswith(_SYSTEM):
            return None
        target = self._diverted(absolute)
        there = self._present(absolute)
        size = 0
        if there is None and os.path.isfile(absolute) and not str(mode).startswith("w"):
            size = os.path.getsize(absolute)
            target = target if size <= _LARGEST else None  # data that is opened to be changed, and mostly is not
        self._write("open", absolute, target)
        if target is None or not self._has_folder(absolute):
            return None
        _make_folder(target)
        if size:
            shutil.copyfile(absolute, target)
        return target

    def _made(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def mkdir(path: Any, *args: Any, **kwargs: Any) -> Any:
            absolute = self._absolute(path) if not kwargs.get("dir_fd") else None
            target = None if absolute is None else self._diverted(absolute)
            if absolute is not None:
                self._hooks.attempt("mkdir", self._write, "mkdir", absolute, target)
            if target is None:
                return original(path, *args, **kwargs)
            if os.path.exists(str(absolute)):
                raise FileExistsError(17, "File exists", path)
            if not self._has_folder(str(absolute)):
                raise FileNotFoundError(2, "No such file or directory", path)
            _make_parents(original, os.path.dirname(target))
            return original(target, *args, **kwargs)

        return mkdir

    def _removed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def remove(path: Any, *args: Any, **kwargs: Any) -> Any:
            absolute = self._absolute(path) if not kwargs.get("dir_fd") else None
            target = None if absolute is None else self._diverted(absolute)
            if absolute is not None:
                self._hooks.attempt("remove", self._write, "remove", absolute, target)
            if target is None:
                return original(path, *args, **kwargs)
            there = self._present(absolute)
            if there is not None:
                return original(there, *args, **kwargs)
            return None if self._is_real(str(absolute)) else original(path, *args, **kwargs)

        return remove

    def _renamed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def rename(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
            source, destination = self._absolute(src), self._absolute(dst)
            if source is None or destination is None:
                return original(src, dst, *args, **kwargs)
            target = self._diverted(destination)
            self._hooks.attempt("rename", self._write, "rename", destination, target)
            if target is None:
                return original(src, dst, *args, **kwargs)
            there = self._present(source)
            _make_folder(target)
            if there is not None:
                return original(there, target, *args, **kwargs)
            self._stat(src)
            if os.path.isdir(source):
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, target)
            return None

        return rename

    def _touched(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def touch(path: Any, *args: Any, **kwargs: Any) -> Any:
            absolute = None if kwargs.get("dir_fd") is not None else self._absolute(path)
            there = self._present(absolute)
            if there is None and absolute is not None and self._is_kept(absolute) and self._is_real(absolute):
                return None
            return original(path if there is None else there, *args, **kwargs)

        return touch

    def _linked(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def link(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
            absolute = None if kwargs.get("dir_fd") is not None else self._absolute(dst)
            target = None if absolute is None else self._diverted(absolute)
            if target is None:
                return original(src, dst, *args, **kwargs)
            _make_folder(target)
            return original(src, target, *args, **kwargs)

        return link

    def _opened_low(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def opened(path: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
            there = None
            if kwargs.get("dir_fd") is None:
                mode = "a" if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else "r"
                there = self._hooks.attempt("os.open", self._to_open, path, mode)
            return original(path if there is None else there, flags, *args, **kwargs)

        return opened

    def _looked_up(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def look(path: Any, *args: Any, **kwargs: Any) -> Any:
            there = None
            if not isinstance(path, int) and kwargs.get("dir_fd") is None:
                there = self._hooks.attempt("stat", lambda: self._present(self._absolute(path)))
            return original(path if there is None else there, *args, **kwargs)

        return look

    def _listed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def listdir(path: Any = ".") -> Any:
            there = self._hooks.attempt("listdir", lambda: self._present(self._absolute(path)))
            if there is None or isinstance(path, int):
                return original(path)
            absolute = str(self._absolute(path))
            beside = original(absolute) if self._is_real(absolute) else []
            return sorted({*beside, *original(there)})

        return listdir

    def _scanned(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def scandir(path: Any = ".") -> Any:
            there = self._hooks.attempt("scandir", lambda: self._present(self._absolute(path)))
            if there is None or isinstance(path, int):
                return original(path)
            return _Scan([*original(there)], [*original(path)] if self._is_real(str(self._absolute(path))) else [])

        return scandir

    def _write(self, what: str, absolute: str, target: str | None) -> None:
        stack: list[list[object]] = self._recorder.places.stack(sys._getframe(1))
        is_free = absolute.startswith(self._free) and not absolute.startswith(self._own)
        if stack and not is_free and not absolute.startswith(self._folder):
            self._recorder.write(Kind.WRITE, stack, path=absolute, what=what, diverted=target is not None)


class _Scan:
    """The entries of a folder of the overlay, and those of the folder beside that it does not have."""

    def __init__(self, entries: list[Any], beside: list[Any]) -> None:
        names = {entry.name for entry in entries}
        self._entries = iter([*entries, *(entry for entry in beside if entry.name not in names)])

    def __iter__(self) -> _Scan:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Scan:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open."""


def _keys(obj: Any) -> list[str]:
    """Return the first keys of a dict, and of the dicts in it."""
    if not isinstance(obj, dict):
        return []
    inner = [key for part in obj.values() if isinstance(part, dict) for key in part]
    return [key for key in [*obj, *inner] if isinstance(key, str)][:_KEYS]


def _make_folder(target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)


def _make_parents(mkdir: Callable[..., Any], folder: str) -> None:
    if not os.path.isdir(folder):
        _make_parents(mkdir, os.path.dirname(folder))
        try:
            mkdir(folder)
        except FileExistsError:
            return
