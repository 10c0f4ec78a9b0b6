"""Calls that write files: what each writes, and to which path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.resolve import UNKNOWN

if TYPE_CHECKING:
    from ddplint.project.project import Project


class WriteKind(Enum):
    """What becomes of the file when several processes write it."""

    WHOLE = "each process writes all of it"
    LOG = "each process adds its lines"


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A call that writes a file, and the expression of its path."""

    call: Call
    path: Expression
    kind: WriteKind


# Documented name -> the place and the keyword of the path.
_FUNCTIONS = {
    "torch.save": (1, "f"),
    "torch.jit.save": (1, "f"),
    "torch.onnx.export": (2, "f"),
    "torchvision.utils.save_image": (1, "fp"),
    "safetensors.torch.save_file": (1, "filename"),
    "safetensors.torch.save_model": (1, "filename"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
    "scipy.io.savemat": (0, "file_name"),
    "joblib.dump": (1, "filename"),
    "cv2.imwrite": (0, "filename"),
    "imageio.imwrite": (0, "uri"),
    "matplotlib.pyplot.savefig": (0, "fname"),
    "shutil.copy": (1, "dst"),
    "shutil.copy2": (1, "dst"),
    "shutil.copyfile": (1, "dst"),
    "shutil.copytree": (1, "dst"),
}
_OPENS = frozenset({"builtins.open", "io.open", "codecs.open", "gzip.open"})
# Methods of objects that come from elsewhere, told by their names.
_METHODS = {
    "save_pretrained": (0, "save_directory"),
    "savefig": (0, "fname"),
    "to_csv": (0, "path_or_buf"),
}
_WORDS = frozenset(name.rpartition(".")[2] for name in (*_FUNCTIONS, *_OPENS)) | _METHODS.keys()
_TABLES = frozenset({"csv.writer", "csv.DictWriter"})
_NOWHERE = frozenset({"os.devnull"})
_IN_MEMORY = frozenset({"io.BytesIO", "io.StringIO"})


class Writes:
    """Finds the writes of scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, tuple[FileWrite, ...]] = {}

    def of(self, script: Script) -> tuple[FileWrite, ...]:
        """Return the calls of a script that write a file, in source order.

        What is written into a file that the script opened is found at its ``open``; memory and ``os.devnull`` are left
        out.
        """
        if id(script) not in self._known:
            self._known[id(script)] = tuple(self._find(script))
        return self._known[id(script)]

    def _find(self, script: Script) -> Iterator[FileWrite]:
        for call in script.calls:
            if last_name(call.callee) not in _WORDS:
                continue
            kind = WriteKind.WHOLE
            names = self._project.names(call.callee)
            if names <= _OPENS:
                opened = self._opens(call)
                if opened is None:
                    continue
                kind, path = opened, _given(call, 0, "file")
            else:
                path = self._path(call, names)
            if path is not None and not self._is_no_path(path):
                yield FileWrite(call, path, kind)

    def _path(self, call: Call, names: frozenset[str]) -> Expression | None:
        if names <= _FUNCTIONS.keys():
            return next((_given(call, *_FUNCTIONS[name]) for name in sorted(names)), None)
        method = call.callee.name if isinstance(call.callee, Attribute) else ""
        known = self._project.resolver.function_of(call) is not None
        return None if known or method not in _METHODS else _given(call, *_METHODS[method])

    def _opens(self, call: Call) -> WriteKind | None:
        """Return how a call of ``open`` writes, None where it reads or that can't be seen."""
        mode = _given(call, 1, "mode")
        modes = None if mode is None else self._project.constants(mode)
        text = next(iter(modes)) if modes is not None and len(modes) == 1 else None
        if not isinstance(text, str) or not any(letter in text for letter in "wax"):
            return None
        if "a" in text and _is_only_touched(call):
            return None
        return WriteKind.LOG if "a" in text or self._is_table(call) else WriteKind.WHOLE

    def _is_table(self, opened: Call) -> bool:
        """Whether rows are written into a file that a call opens."""
        tables = self._project.calls(opened.scope.script, *_TABLES)
        return any(
            table.arguments and opened in self._project.origins(table.arguments[0].value)
            for table in tables
            if table.order > opened.order
        )

    def _is_no_path(self, path: Expression) -> bool:
        """Whether what stands for a path is an open file, memory or nothing at all."""
        if self._project.names(path) & _NOWHERE:
            return True
        origins = self._project.origins(path)
        made = [origin for origin in origins if isinstance(origin, Call)]
        names = {name for call in made for name in self._project.names(call.callee)}
        if names & (_OPENS | _IN_MEMORY) or any(last_name(call.callee) == "open" for call in made):
            return True
        is_none = [isinstance(origin, Constant) and origin.value is None for origin in origins]
        return (bool(is_none) and all(is_none)) or (UNKNOWN in origins and UNKNOWN_NAME in names)


def _is_only_touched(opened: Call) -> bool:
    """Whether nobody can write into a file that is opened: ``with open(path, "a"): pass`` only makes it."""
    items = getattr(opened.statement.node, "items", ())
    return any(getattr(item, "item", None) is opened.node and item.asname is None for item in items)


def _given(call: Call, place: int, keyword: str) -> Expression | None:
    """Return the argument at a place or of a keyword, None where there is none or a star hides it."""
    positional = [given for given in call.arguments if given.keyword is None]
    if place < len(positional) and not any(given.star for given in positional[: place + 1]):
        return positional[place].value
    return next((given.value for given in call.arguments if given.keyword == keyword), None)
