"""Whether a model holds buffers, such as the running statistics of BatchNorm, that DDP keeps equal in every forward."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ddplint.project.frames import Frame, Frames
from ddplint.project.models import Models, Wrapper
from ddplint.project.reach import Reach
from ddplint.semantics import Attribute, Call, Comprehension, Constant, Expression, Mapping, Sequence
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Class


class Buffers(Enum):
    """What is known of a model's buffers."""

    SOME = "it holds buffers"
    NONE = "it holds none"
    UNKNOWN = "unknown"


_WITH_BUFFERS = ("BatchNorm", "spectral_norm")
_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
# Models of torchvision without BatchNorm.
_WITHOUT = ("alexnet", "squeezenet", "vit_", "swin", "convnext", "maxvit")
_CONVERSION = "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
_DEEPEST = 6


class ModelBuffers:
    """Answers for the models of a project."""

    def __init__(self, resolver: Resolver, frames: Frames, models: Models, reach: Reach) -> None:
        self._resolver = resolver
        self._frames = frames
        self._models = models
        self._reach = reach
        self._known: dict[int, Buffers] = {}

    def synchronised(self, model: Expression, frame: Frame | None = None) -> Buffers:
        """Return whether the forward of a model in DDP keeps buffers equal: it holds some, and DDP was not told not to.

        ``frame``: how the function around the expression is run.
        """
        found = {self._behind(wrap, inside) for wrap, inside in self._models.wraps(model, Wrapper.DDP, frame)}
        if Buffers.SOME in found:
            return Buffers.SOME
        return Buffers.NONE if found == {Buffers.NONE} else Buffers.UNKNOWN

    def _behind(self, wrap: Call, frame: Frame | None) -> Buffers:
        for name in ("broadcast_buffers", "forward_sync_buffers"):
            given = argument(self._resolver, wrap, name)
            if isinstance(given, Constant) and given.value is False:
                return Buffers.NONE
        module = argument(self._resolver, wrap, "module")
        return Buffers.UNKNOWN if isinstance(module, Missing) else self._of(module, frame, 0)

    def _of(self, module: Expression, frame: Frame | None, depth: int) -> Buffers:
        """Return what is known of a module that an expression gives, or may give."""
        found = {self._of_source(source, inside, depth) for source, inside in self._frames.sources(module, frame)}
        return _whole(found)

    def _of_source(self, source: object, frame: Frame | None, depth: int) -> Buffers:
        if not isinstance(source, Call) or depth > _DEEPEST:
            return Buffers.UNKNOWN
        callee, names = source.callee, self._resolver.names(source.callee)
        if _CONVERSION in names or _is_move(callee):
            moved = (
                [given.value for given in source.arguments[:1]] if _CONVERSION in names else list(callee.children[:1])
            )
            return _whole({self._of(inner, frame, depth + 1) for inner in moved})
        for name in names:
            if name.startswith("torchvision.models."):
                small = name.rpartition(".")[2]
                plain = small.startswith(_WITHOUT) or (small.startswith("vgg") and not small.endswith("_bn"))
                return Buffers.NONE if plain else Buffers.SOME
            if name.startswith("torch.nn."):
                return self._of_layer(source, name, frame, depth)
        classes = [origin for origin in self._resolver.origins(callee) if isinstance(origin, Class)]
        return _whole({self._of_class(cls, depth + 1) for cls in classes})

    def _of_layer(self, made: Call, name: str, frame: Frame | None, depth: int) -> Buffers:
        if any(kind in name for kind in _WITH_BUFFERS):
            return Buffers.SOME
        if name not in _CONTAINERS:
            return Buffers.NONE
        if any(given.star for given in made.arguments):
            return Buffers.UNKNOWN
        parts = [part for given in made.arguments for part in _listed(given.value)]
        return _whole({Buffers.NONE, *(self._of(part, frame, depth + 1) for part in parts)})

    def _of_class(self, cls: Class, depth: int) -> Buffers:
        if id(cls) not in self._known:
            self._known[id(cls)] = Buffers.NONE  # what a class that holds its own kind gets
            self._known[id(cls)] = _whole({Buffers.NONE, *self._parts(cls, depth)})
        return self._known[id(cls)]

    def _parts(self, cls: Class, depth: int) -> Iterator[Buffers]:
        for heir in self._resolver.lineage(cls):
            if not self._models.is_module(heir):
                yield Buffers.UNKNOWN
            for method in heir.methods.values():
                for call in self._reach.calls_in(method):
                    if isinstance(call.callee, Attribute) and call.callee.name == "register_buffer":
                        yield Buffers.SOME
                    elif method.name == "__init__" and self._may_make_module(call):
                        yield self._of(call, None, depth)

    def _may_make_module(self, call: Call) -> bool:
        """Whether a call in a constructor may make a part of the module."""
        names = self._resolver.names(call.callee)
        if any(name.startswith(("torch.nn.", "torchvision.models.", "<")) for name in names):
            return not any(name.startswith(("torch.nn.init.", "torch.nn.Parameter")) for name in names)
        return UNKNOWN_NAME in names and not isinstance(call.callee, Attribute)


def _whole(parts: set[Buffers]) -> Buffers:
    """What is known of a module from what is known of its parts."""
    if Buffers.SOME in parts:
        return Buffers.SOME
    return Buffers.NONE if parts == {Buffers.NONE} else Buffers.UNKNOWN


def _is_move(callee: Expression) -> bool:
    return isinstance(callee, Attribute) and callee.name in ("to", "cuda", "cpu", "train", "eval", "half", "float")


def _listed(given: Expression) -> tuple[Expression, ...]:
    """Return the modules in what a container is given: itself, the items of a list, the elements of a comprehension."""
    if isinstance(given, Sequence):
        return given.items
    if isinstance(given, Mapping):
        return tuple(value for _, value in given.items)
    return given.elements if isinstance(given, Comprehension) else (given,)
