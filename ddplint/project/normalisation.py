"""Whether a model holds BatchNorm, and whether a program makes its statistics those of all processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.semantics import Attribute, Call, Comprehension, Expression, Mapping, Passed, Script, Sequence
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.structure import Class, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_BATCH_NORM = frozenset(f"torch.nn.BatchNorm{dimensions}d" for dimensions in (1, 2, 3))
_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
# Models of torchvision that hold BatchNorm, unless another layer is asked for.
_MODELS = ("densenet", "googlenet", "inception", "mnasnet", "mobilenet", "regnet", "resnet", "resnext", "shufflenet")
_MOVES = frozenset({"to", "cuda", "train", "requires_grad_", "apply"})
# What the functions and classes are called that make BatchNorm one of all processes, torch's and others.
_TOGETHER = ("syncbn", "syncbatchnorm", "synchronizedbatchnorm", "inplaceabnsync")
# Words without one of which a file can't be speaking of them.
_SPEAKS_OF_IT = (b"syncb", b"sync_b", b"synchronizedb", b"abnsync")
_DEEPEST = 6


class Normalisation:
    """Answers for the models of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, Call | None] = {}

    def batch_norm_of(self, module: Expression, frame: Frame | None = None, depth: int = 0) -> Call | None:
        """Return a call that makes a BatchNorm layer of a module, whichever it is; None when it may have none."""
        found = [
            self._of_source(source, inside, depth) for source, inside in self._project.frames.sources(module, frame)
        ]
        return found[0] if found and all(found) else None

    def is_synchronised(self, script: Script) -> bool:
        """Whether the program of a script anywhere makes or converts layers that count over all processes."""
        for path, content in zip(self._project.program_of(script), self._project.contents(script), strict=True):
            if not any(word in content.lower() for word in _SPEAKS_OF_IT):
                continue
            other = self._project.script(path)
            if other is not None and any(map(_is_together, self._spoken_of(other))):
                return True
        return False

    def _spoken_of(self, script: Script) -> Iterator[str]:
        yield from (name.id for name in script.names)
        yield from (attribute.name for attribute in script.attributes)
        yield from (cls.name for cls in script.classes)
        yield from (function.name for function in script.functions)
        yield from (last_name(call.callee) for call in script.calls)

    def _of_source(self, source: object, frame: Frame | None, depth: int) -> Call | None:
        if not isinstance(source, Call) or depth > _DEEPEST:
            return None
        names = self._project.names(source.callee)
        if isinstance(source.callee, Attribute) and source.callee.name in _MOVES:
            return self.batch_norm_of(source.callee.base, frame, depth + 1)
        if UNKNOWN_NAME in names:
            return None
        if names and (names <= _BATCH_NORM or all(map(_is_model, names))):
            asked = any(given.keyword == "norm_layer" for given in source.arguments)
            return None if asked else source
        if names <= _CONTAINERS:
            parts = (part for given in source.arguments for part in _parts(given.value))
            return next(filter(None, (self.batch_norm_of(part, frame, depth + 1) for part in parts)), None)
        classes = [origin for origin in self._project.origins(source.callee) if isinstance(origin, Class)]
        return self._of_class(classes[0], depth + 1) if len(classes) == 1 else None

    def _of_class(self, cls: Class, depth: int) -> Call | None:
        """Return the first BatchNorm that the constructor of a class makes on every run."""
        if id(cls) not in self._known:
            self._known[id(cls)] = None  # what a class that holds its own kind gets
            made = (
                self.batch_norm_of(call, None, depth)
                for heir in self._project.resolver.lineage(cls)
                if self._project.models.is_module(heir) and (constructor := heir.methods.get("__init__")) is not None
                for call in self._project.reach.calls_in(constructor)
                if not any(region.kind is RegionKind.BRANCH for region in call.region.chain())
            )
            self._known[id(cls)] = next(filter(None, made), None)
        return self._known[id(cls)]


def _is_together(name: str) -> bool:
    plain = name.replace("_", "").lower()
    return any(word in plain for word in _TOGETHER)


def _is_model(name: str) -> bool:
    parts = name.split(".")
    return parts[:2] == ["torchvision", "models"] and len(parts) == 3 and parts[2].startswith(_MODELS)


def _parts(given: Expression) -> tuple[Expression, ...]:
    """Return what a container is made of: an argument, the items of a list, the elements of a comprehension."""
    if isinstance(given, Sequence):
        return given.items
    if isinstance(given, Mapping):
        return tuple(value for _, value in given.items)
    if isinstance(given, Passed) and given.value is not None:
        return _parts(given.value)
    return given.elements if isinstance(given, Comprehension) else (given,)
