"""What stands around a model where an expression names it: nothing, DataParallel, DDP, FSDP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ddplint.project.frames import Frame, Frames, Source
from ddplint.semantics import Attribute, Call, Expression, Name, Script, Subscript
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Imported, Origin, Resolver
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
# Words without one of which nothing in a program is wrapped so.
_WORDS = {
    Wrapper.DATA_PARALLEL: (b"DataParallel",),
    Wrapper.DDP: (b"DistributedDataParallel",),
    Wrapper.FSDP: (b"FullyShardedDataParallel", b"fully_shard"),
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
_WRAPPING = frozenset({Wrapper.DDP, Wrapper.DATA_PARALLEL})
_WRAPS = _WRAPPING | {Wrapper.FSDP}
_DEEPEST = 12

# What has been looked into on the way to the ends of a model: models, and the origins of attributes.
_Seen: TypeAlias = set[tuple[str, int, Frame | None]]
# How a model is asked about: with a frame, by its expression or by the bindings of its name.
_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _End:
    """One thing that can have made a model, and what it puts around it."""

    wrapper: Wrapper
    source: Source


class Models:
    """Answers for the models of a project. ``mentions``: see Project.mentions."""

    def __init__(self, resolver: Resolver, frames: Frames, mentions: Callable[[Script, Sequence[bytes]], bool]) -> None:
        self._resolver = resolver
        self._frames = frames
        self._mentions = mentions
        self._occurring: dict[tuple[int, Wrapper], bool] = {}
        self._known: dict[_Key, frozenset[Wrapper]] = {}
        self._asked: dict[_Key, frozenset[Wrapper]] = {}

    def wrappers(self, model: Expression, frame: Frame | None = None, depth: int = 0) -> frozenset[Wrapper]:
        """Return everything that can stand around the model where an expression names it.

        ``frame``: how the function around the expression is run.
        """
        key = self._key(model, frame)
        known = self._known.get(key, self._asked.get(key))
        if known is not None or depth > _DEEPEST:
            return frozenset([Wrapper.UNKNOWN]) if known is None else known
        outermost = not self._asked
        self._asked[key] = frozenset()  # what a model made from itself gets
        found = self._asked[key] = frozenset(self._around(model, frame, depth))
        if outermost:
            found = self._known[key] = found or frozenset([Wrapper.UNKNOWN])
            self._asked.clear()
        return found

    def _key(self, model: Expression, frame: Frame | None) -> _Key:
        """Return one key for all reads of a name that have the same bindings."""
        bindings = reaching(model.id, model) if isinstance(model, Name) else None
        return (frame, *map(id, bindings)) if bindings else (frame, id(model))

    def is_certainly(self, model: Expression, wrapper: Wrapper) -> bool:
        """Whether a model can't be wrapped in anything but this."""
        return self.wrappers(model) == frozenset([wrapper])

    def wrapped_once(self, model: Expression, wrapper: Wrapper, frame: Frame | None = None) -> bool:
        """Whether a model is wrapped in this on some runs, and known to be bare or otherwise wrapped on the others."""
        if not self.occurs(wrapper, model):
            return False
        found = self.wrappers(model, frame)
        return wrapper in found and Wrapper.UNKNOWN not in found

    def occurs(self, wrapper: Wrapper, near: Expression) -> bool:
        """Whether anything is wrapped in this in the program around an expression, told from its words alone."""
        script = near.scope.script
        key = (id(script), wrapper)
        if key not in self._occurring:
            self._occurring[key] = self._mentions(script, _WORDS[wrapper])
        return self._occurring[key]

    def wraps(self, model: Expression, wrapper: Wrapper, frame: Frame | None = None) -> list[tuple[Call, Frame | None]]:
        """Return the calls that can have wrapped a model, each with how the function around it is run."""
        ends = [end for end in self._ends(model, frame, 0, set()) if end.wrapper is wrapper]
        return [(end.source[0], end.source[1]) for end in ends if isinstance(end.source[0], Call)]

    def class_inside(self, model: Expression, frame: Frame | None = None) -> Class | None:
        """Return the project's class of the model in a wrapper; None when it is none, or not certainly one."""
        classes: set[Class | None] = set()
        for wrapper in _WRAPS:
            for wrap, inside in self.wraps(model, wrapper, frame):
                for end in self._ends(wrap.arguments[0].value, inside, 0, set()) if wrap.arguments else ():
                    made = end.source[0]
                    origins = self._resolver.origins(made.callee) if isinstance(made, Call) else ()
                    classes |= {origin if isinstance(origin, Class) else None for origin in origins or (None,)}
        return classes.pop() if len(classes) == 1 else None

    def is_inside(self, model: Expression, wrapped: Expression, frame: Frame | None, outer: Frame | None) -> bool:
        """Whether a model, run in ``frame``, is certainly what stands in the wrapper of another, run in ``outer``."""
        ends = {end.source for end in self._ends(model, frame, 0, set())}
        held = {
            end.source
            for wrapper in _WRAPS
            for wrap, inside in self.wraps(wrapped, wrapper, outer)
            for end in (self._ends(wrap.arguments[0].value, inside, 0, set()) if wrap.arguments else ())
        }
        return bool(ends) and ends <= held

    def is_made_module(self, call: Call) -> bool:
        """Whether a call makes an ``nn.Module``."""
        return self._makes_module(call, self._resolver.kinds(call.callee))

    def bypassed(self, model: Expression, frame: Frame | None = None) -> Expression | None:
        """Return the DDP model of which an expression names the inside: ``ddp.module``, kept or handed on."""
        for source, inside in self._frames.sources(model, frame):
            if not isinstance(source, Attribute) or source.name != "module":
                continue
            if self.wrapped_once(source.base, Wrapper.DDP, inside):
                return source.base
        return None

    def _around(self, model: Expression, frame: Frame | None, depth: int) -> Iterator[Wrapper]:
        ends = tuple(self._ends(model, frame, depth, set()))
        wrapped = {
            end.source
            for outer in ends
            if outer.wrapper in _WRAPS and isinstance(outer.source[0], Call) and outer.source[0].arguments
            for end in self._ends(outer.source[0].arguments[0].value, outer.source[1], depth, set())
        }
        for end in ends:
            # what is wrapped on another way was bare before, whatever it is
            unwrapped = end.wrapper is Wrapper.UNKNOWN and end.source in wrapped
            yield Wrapper.BARE if unwrapped else end.wrapper

    def _ends(self, model: Expression, frame: Frame | None, depth: int, seen: _Seen) -> Iterator[_End]:
        """Yield what made a model, behind everything that hands it on.

        ``m.module if hasattr(m, "module") else m`` takes off every wrapper.
        """
        if ("model", id(model), frame) in seen:
            return
        seen.add(("model", id(model), frame))
        sources = self._frames.sources(model, frame)
        insides = [(source, inside) for source, inside in sources if self._is_inside(source, inside, depth)]
        for source, inside in insides or sources:
            yield from self._ends_of(source, inside, depth, seen)

    def _is_inside(self, source: Origin, frame: Frame | None, depth: int) -> bool:
        if not isinstance(source, Attribute) or source.name != "module":
            return False
        return bool(_WRAPPING & self.wrappers(source.base, frame, depth + 1))

    def _ends_of(self, source: Origin, frame: Frame | None, depth: int, seen: _Seen) -> Iterator[_End]:
        end = (source, frame)
        if isinstance(source, Call):
            names = self._resolver.kinds(source.callee)
            wrappers = {_WRAPPERS[name] for name in names if name in _WRAPPERS}
            if wrappers:
                yield from (_End(wrapper, end) for wrapper in wrappers)
            elif names & _HANDED_ON and source.arguments:
                yield from self._ends(source.arguments[0].value, frame, depth, seen)
            elif isinstance(source.callee, Attribute) and source.callee.name in _RETURNS_SELF:
                yield from self._ends(source.callee.base, frame, depth, seen)
            else:
                yield _End(Wrapper.BARE if self._makes_module(source, names) else Wrapper.UNKNOWN, end)
        elif self._is_inside(source, frame, depth) or self._is_self(source):
            yield _End(Wrapper.BARE, end)
        elif isinstance(source, Attribute | Subscript) and ("origins", id(source), frame) not in seen:
            seen.add(("origins", id(source), frame))
            origins = [origin for origin in self._resolver.origins(source) if origin is not source]
            for origin in origins:
                yield from self._ends_of(origin, None, depth, seen)
            yield from () if origins else (_End(Wrapper.UNKNOWN, end),)
        else:
            yield _End(Wrapper.UNKNOWN, end)

    def _is_self(self, source: Origin) -> bool:
        """Whether something is the instance that a method of a module gets."""
        return isinstance(source, Parameter) and source.index == 0 and self.is_module(source.function.cls)

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
