"""What the user has settled: ``ddplint.toml``, or ``[tool.ddplint]`` in ``pyproject.toml``."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ddplint.errors import PathError, SettingError, nearest

Launcher = Literal["torchrun", "spawn", "slurm"]
# The values of findings.Impact, which stands above.
IMPACTS = ("crash", "hang", "wrong", "slow", "noise", "deprecated")

_OWN_FILE = "ddplint.toml"
_SHARED_FILE = "pyproject.toml"
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)*(?:\+\w+)?")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; in files, the names are written with hyphens.

    ``select`` empty means all rules, ``fail_on`` empty all impacts. ``per_file_ignores`` holds pairs of a pattern and
    its selectors; patterns and ``exclude`` are written as in .gitignore and, like ``baseline``, relative to ``root``:
    the folder of the configuration file, or the folder that the search for one started from.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    torch_version: tuple[int, int] | None = None
    launcher: Launcher | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    pedantic: bool = False
    fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    fail_on: tuple[str, ...] = ()
    baseline: str | None = None
    plugins: tuple[str, ...] = ()
    root: Path = Path()

    def with_options(self, **overrides: Any) -> Settings:
        """Return the settings with those overridden that are not None: an option that was not given is None."""
        return dataclasses.replace(self, **{name: value for name, value in overrides.items() if value is not None})


def load_settings(start: Path, explicit: Path | None = None) -> Settings:
    """Read the explicit file, else the nearest one in ``start`` or above; without any, all settings are at rest.

    Raises SettingError for a file that does not say what it should, PathError when the explicit one is missing.
    """
    if explicit is not None:
        return _explicit_settings(explicit)
    start = start.resolve()
    for folder in (start, *start.parents):
        for path in (folder / _OWN_FILE, folder / _SHARED_FILE):
            table = _table(path)
            if table is not None:
                return _settings(table, path)
    return Settings(root=start)


def parse_version(text: str) -> tuple[int, int]:
    """Return major and minor of a version such as ``2.4`` or ``2.4.1+cu121``; raises ValueError for anything else."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'must be a version such as "2.4", not {text!r}')
    return int(match[1]), int(match[2])


def _explicit_settings(path: Path) -> Settings:
    path = path.resolve()
    if not path.is_file():
        raise PathError(f"no such configuration file: {path}")
    table = _table(path)
    if table is None:
        raise SettingError(f"{path}: has no [tool.ddplint]")
    return _settings(table, path)


def _table(path: Path) -> dict[str, object] | None:
    """The table with our settings, or None where there is no such file or it does not speak of us."""
    try:
        data = path.read_bytes() if path.is_file() else None
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror or error}") from None
    if data is None:
        return None
    if path.name != _SHARED_FILE:
        return _parsed(data, path)
    # Most pyproject.toml files are not about us: the TOML parser is not even imported for them.
    tool = _parsed(data, path).get("tool") if b"ddplint" in data else None
    table = tool.get("ddplint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingError(f"{path}: tool.ddplint must be a table, not {_kind(table)}")
    return table


def _parsed(data: bytes, path: Path) -> dict[str, object]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingError(f"{path}: not UTF-8 (at line {line})") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path}: {' '.join(str(error).split())}") from None


def _settings(table: Mapping[str, object], path: Path) -> Settings:
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise SettingError(f"{path}: unknown key {key!r}{nearest(key, _READERS)}")
        try:
            values[key.replace("-", "_")] = reader(value)
        except ValueError as error:
            raise SettingError(f"{path}: {key}: {error}") from None
    return Settings(**values, root=path.parent)


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list of strings, not {_kind(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ValueError(f"must be a list of strings, but holds {_kind(item)}")
    return tuple(value)


def _strings_by_pattern(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a table from patterns to lists of strings, not {_kind(value)}")
    pairs = []
    pattern = ""
    try:
        for pattern, selectors in value.items():
            pairs.append((pattern, _strings(selectors)))
    except ValueError as error:
        raise ValueError(f"{pattern!r} {error}") from None
    return tuple(pairs)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {_kind(value)}")
    return value


def _impacts(value: object) -> tuple[str, ...]:
    return impacts(_strings(value))


def impacts(words: Sequence[str]) -> tuple[str, ...]:
    """Return words that are all impacts; raises ValueError for one that is none."""
    for word in words:
        if word not in IMPACTS:
            raise ValueError(f"{word!r} is none of {', '.join(IMPACTS)}{nearest(word, IMPACTS)}")
    return tuple(words)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_kind(value)}")
    return value


def _count(value: object) -> int:
    # A bool is an int to Python, not to people.
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        shown = value if isinstance(value, int) and not isinstance(value, bool) else _kind(value)
        raise ValueError(f"must be a whole number from 1, not {shown}")
    return value


def _version(value: object) -> tuple[int, int]:
    # A TOML number would turn 2.10 into 2.1.
    if not isinstance(value, str):
        raise ValueError(f'must be a string such as "2.4", not {_kind(value)}')
    return parse_version(value)


def _launcher(value: object) -> str:
    known: tuple[str, ...] = get_args(Launcher)
    if not isinstance(value, str):
        raise ValueError(f"must be one of {', '.join(known)}, not {_kind(value)}")
    if value not in known:
        raise ValueError(f"must be one of {', '.join(known)}, not {value!r}{nearest(value, known)}")
    return value


_READERS: dict[str, Callable[[object], object]] = {
    "select": _strings,
    "extend-select": _strings,
    "ignore": _strings,
    "per-file-ignores": _strings_by_pattern,
    "exclude": _strings,
    "force-exclude": _flag,
    "torch-version": _version,
    "launcher": _launcher,
    "nodes": _count,
    "gpus-per-node": _count,
    "pedantic": _flag,
    "fixable": _strings,
    "unfixable": _strings,
    "fail-on": _impacts,
    "baseline": _text,
    "plugins": _strings,
}
_KINDS = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a table"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")
