"""What stands around a model where an expression names it: nothing, DataParallel, DDP, FSDP."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ddplint.semantics import Attribute, Call, Expression
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.resolve import Imported, Resolver
from ddplint.semantics.structure import Class, Parameter


class Wrapper(Enum):
    """What a model is wrapped in, seen from outside."""

    BARE = "bare"
    DATA_PARALLEL = "DataParallel"
    DDP = "DistributedDataParallel"
    FSDP = "FullyShardedDataParallel"
    UNKNOWN = "unknown"


_WRAPPERS = {
    "torch.nn.DataParallel": Wrapper.DATA_PARALLEL,
    "torch.nn.parallel.DistributedDataParallel": Wrapper.DDP,
    "torch.distributed.fsdp.FullyShardedDataParallel": Wrapper.FSDP,
    "torch.distributed.fsdp.fully_shard": Wrapper.FSDP,
    "torch.distributed._composable.fsdp.fully_shard": Wrapper.FSDP,
}
# Calls that hand on the model that they are given as their first argument.
_HANDED_ON = frozenset(
    {
        "torch.compile",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "torch.nn.utils.convert_sync_batchnorm",
        "copy.deepcopy",
        "copy.copy",
        "torch.jit.script",
    }
)
# Methods of a module that return the module.
_RETURNS_SELF = frozenset(
    {"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "type", "apply", "requires_grad_"}
)
_DEEPEST = 12


class Models:
    """Answers for the models of a project."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[int, frozenset[Wrapper]] = {}

    def wrappers(self, model: Expression, depth: int = 0) -> frozenset[Wrapper]:
        """Return everything that can stand around the model where an expression names it."""
        known = self._known.get(id(model))
        if known is not None:
            return known
        if depth > _DEEPEST:
            return frozenset([Wrapper.UNKNOWN])
        self._known[id(model)] = frozenset([Wrapper.UNKNOWN])  # what a model made from itself gets
        found = frozenset(self._around(model, depth)) or frozenset([Wrapper.UNKNOWN])
        self._known[id(model)] = found
        return found

    def is_certainly(self, model: Expression, wrapper: Wrapper) -> bool:
        """Whether a model can't be wrapped in anything but this."""
        return self.wrappers(model) == frozenset([wrapper])

    def _around(self, model: Expression, depth: int) -> Iterator[Wrapper]:
        if isinstance(model, Attribute) and model.name == "module":
            inner = self.wrappers(model.base, depth + 1)
            if inner & {Wrapper.DDP, Wrapper.DATA_PARALLEL}:
                yield Wrapper.BARE
                return
        for origin in self._resolver.origins(model):
            if isinstance(origin, Call):
                yield from self._made(origin, depth)
            elif isinstance(origin, Parameter) and origin.index == 0 and self.is_module(origin.function.cls):
                yield Wrapper.BARE
            else:
                yield Wrapper.UNKNOWN

    def _made(self, call: Call, depth: int) -> Iterator[Wrapper]:
        names = self._resolver.names(call.callee)
        wrappers = {_WRAPPERS[name] for name in names if name in _WRAPPERS}
        if wrappers:
            yield from wrappers
        elif names & _HANDED_ON and call.arguments:
            yield from self.wrappers(call.arguments[0].value, depth + 1)
        elif isinstance(call.callee, Attribute) and call.callee.name in _RETURNS_SELF:
            yield from self.wrappers(call.callee.base, depth + 1)
        elif self._makes_module(call, names):
            yield Wrapper.BARE
        else:
            yield Wrapper.UNKNOWN

    def _makes_module(self, call: Call, names: frozenset[str]) -> bool:
        if any(name.startswith(("torchvision.models.", "torch.nn.")) for name in names):
            return UNKNOWN_NAME not in names
        return any(isinstance(made, Class) and self.is_module(made) for made in self._resolver.origins(call.callee))

    def is_module(self, cls: Class | None, depth: int = 0) -> bool:
        """Whether a class of the project is certainly an ``nn.Module``."""
        if cls is None or depth > _DEEPEST:
            return False
        for base in cls.bases:
            for origin in self._resolver.origins(base):
                if isinstance(origin, Imported) and origin.name.startswith(("torch.nn.", "torchvision.models.")):
                    return True
                if isinstance(origin, Class) and origin is not cls and self.is_module(origin, depth + 1):
                    return True
        return False
