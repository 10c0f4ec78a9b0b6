"""Of which classes of the project a model is made, and which wrappers stand around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Comprehension, Constant, Expression, Passed, Script, Sequence
from ddplint.semantics.structure import Class, Function, RegionKind, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Layers of torch that have parameters, by the beginning of their names.
_LAYERS = (
    "BatchNorm",
    "Bilinear",
    "Conv",
    "Embedding",
    "GRU",
    "GroupNorm",
    "LSTM",
    "LayerNorm",
    "Linear",
    "MultiheadAttention",
    "PReLU",
    "RNN",
    "Transformer",
)
_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList"})
_DDP = "torch.nn.parallel.DistributedDataParallel"
_DEEPEST = 6


class Parts:
    """Answers for the models of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def classes(self, cls: Class) -> Iterator[Class]:
        """Yield a class and, all the way down, those of which its constructor always makes an object."""
        yield from self._classes(cls, 0, set())

    def wraps_around(self, cls: Class) -> Iterator[Call]:
        """Yield the calls of DistributedDataParallel that wrap a model which certainly holds an object of a class."""
        for wrap in self.wraps(cls.scope.script):
            inside = self._project.models.class_inside(wrap)
            if inside is not None and any(part is cls for part in self.classes(inside)):
                yield wrap

    def wraps(self, script: Script) -> Iterator[Call]:
        """Yield the calls of DistributedDataParallel in the program of a script."""
        for path in self._project.program_of(script):
            if b"DistributedDataParallel" in self._project.files.content(path):
                other = self._project.script(path)
                yield from () if other is None else self._project.calls(other, _DDP)

    def constructors(self, cls: Class) -> Iterator[Function]:
        """Yield the constructors of a class and of those of the project that it derives from."""
        for heir in self._project.resolver.lineage(cls):
            if "__init__" in heir.methods:
                yield heir.methods["__init__"]

    def made(self, call: Call) -> Class | None:
        """Return the project's class of the module that a call certainly makes."""
        classes = [origin for origin in self._project.origins(call.callee) if isinstance(origin, Class)]
        return classes[0] if len(classes) == 1 and self._project.models.is_module(classes[0]) else None

    def has_parameters(self, made: Expression, depth: int = 0) -> bool:
        """Whether an expression certainly makes something with a parameter that gets a gradient."""
        if isinstance(made, Sequence):
            return any(self.has_parameters(item, depth) for item in made.items)
        if isinstance(made, Passed) and made.value is not None:
            return self.has_parameters(made.value, depth)
        if isinstance(made, Comprehension):
            return any(self.has_parameters(element, depth) for element in made.elements)
        if not isinstance(made, Call) or depth > _DEEPEST:
            return False
        names = self._project.names(made.callee)
        if names == {"torch.nn.Parameter"}:
            given = self._project.argument(made, "requires_grad")
            return not (isinstance(given, Constant) and given.value is False)
        if names and names <= _CONTAINERS:
            return any(self.has_parameters(given.value, depth + 1) for given in made.arguments)
        if names and all(name.startswith("torch.nn.") for name in names):
            return all(name.removeprefix("torch.nn.").startswith(_LAYERS) for name in names)
        cls = self.made(made)
        return cls is not None and any(
            self.has_parameters(call, depth + 1)
            for constructor in self.constructors(cls)
            for call in self._project.reach.calls_in(constructor)
            if not is_conditional(call)
        )

    def _classes(self, cls: Class, depth: int, seen: set[int]) -> Iterator[Class]:
        if id(cls) in seen or depth > _DEEPEST:
            return
        seen.add(id(cls))
        yield cls
        for constructor in self.constructors(cls):
            for call in self._project.reach.calls_in(constructor):
                made = self.made(call)
                if made is not None and not is_conditional(call):
                    yield from self._classes(made, depth + 1, seen)


def is_conditional(at: Call | Store) -> bool:
    """Whether a place of a function is not run whenever the function is; a loop is taken to have a round."""
    return any(region.kind in (RegionKind.BRANCH, RegionKind.HANDLER) for region in at.region.chain())
