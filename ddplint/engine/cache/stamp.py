"""What an answer depends on besides the files of its project: the program that gives it and what it was asked."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import ddplint
from ddplint.source.distributions import installed_version

if TYPE_CHECKING:
    from ddplint.config import Settings
    from ddplint.rulekit.pack import RegisteredRule


def stamp(settings: Settings, rules: Sequence[RegisteredRule], cwd: Path) -> str:
    """Return a digest that is another one as soon as the same files could be answered otherwise.

    Our own files count by size and time, so that a rule that is being written is never answered from yesterday.
    """
    parts = [ddplint.__version__, str(sys.version_info), str(installed_version("libcst")), repr(settings), str(cwd)]
    parts += [rule.rule.code for rule in rules]
    parts += _states(_homes(rules))
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _homes(rules: Iterable[RegisteredRule]) -> list[Path]:
    """Return the folders of our packages and of every package that brings rules."""
    packages = {"ddplint", *(rule.module.__name__.partition(".")[0] for rule in rules)}
    modules = (sys.modules.get(package) for package in sorted(packages))
    return [Path(module.__file__).parent for module in modules if module is not None and module.__file__]


def _states(homes: Iterable[Path]) -> Iterator[str]:
    for home in homes:
        for path in sorted(home.rglob("*.py")):
            state = path.stat()
            yield f"{path} {state.st_size} {state.st_mtime_ns}"
