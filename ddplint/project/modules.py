"""From the name of a module, as a file imports it, to the project file that it stands for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

# Distributions whose names no project file may claim: `import torch` is never a neighbour called torch.py.
_EXTERNAL = frozenset({"torch", "torchvision", "torchaudio", "numpy", "apex", "deepspeed", "horovod", "accelerate"})


class Modules:
    """The modules and packages among the files below a root."""

    def __init__(self, root: Path, paths: Sequence[Path]) -> None:
        self._root = str(root)
        self._by_place: dict[str, Path] = {}
        self._by_name: dict[str, list[str]] = {}
        self._found: dict[tuple[str, str], Path | None] = {}
        # Packages come last: one wins over a module of the same name.
        for path in sorted(paths, key=lambda path: path.name == "__init__.py"):
            self._by_place[_place(path)] = path
        for place in self._by_place:
            self._by_name.setdefault(place.rpartition(os.sep)[2], []).append(place)

    def find(self, name: str, importer: Path) -> Path | None:
        """Return the file of a module as an importer names it (leading dots: relative), None for others."""
        folder = str(importer.parent)
        key = (name, folder)
        if key not in self._found:
            self._found[key] = self._search(name, folder)
        return self._found[key]

    def _search(self, name: str, folder: str) -> Path | None:
        relative = name.lstrip(".")
        dots = len(name) - len(relative)
        parts = [part for part in relative.split(".") if part]
        if parts and parts[-1] not in self._by_name:
            return None
        tail = os.sep.join(("", *parts))
        if dots:
            for _ in range(dots - 1):
                folder = os.path.dirname(folder)
            return self._by_place.get(folder + tail)
        if not parts or parts[0] in _EXTERNAL:
            return None
        for base in self._bases(folder):
            if base + tail in self._by_place:
                return self._by_place[base + tail]
        return self._only_match(parts, tail)

    def _bases(self, folder: str) -> Iterator[str]:
        while folder.startswith(self._root + os.sep):
            yield folder
            folder = os.path.dirname(folder)
        yield self._root
        yield os.path.join(self._root, "src")

    def _only_match(self, parts: Sequence[str], tail: str) -> Path | None:
        """Return the one file whose path ends like the module's name: packages below folders put on ``sys.path``."""
        if len(parts) < 2:
            return None
        matches = [place for place in self._by_name[parts[-1]] if place.endswith(tail)]
        return self._by_place[matches[0]] if len(matches) == 1 else None


def _place(path: Path) -> str:
    return str(path.parent if path.name == "__init__.py" else path.with_suffix(""))
