"""Samplers: what kinds there are, which share a dataset out over the ranks, which wait for ``set_epoch``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Class, Function

DISTRIBUTED_SAMPLER = "torch.utils.data.distributed.DistributedSampler"
BATCH_SAMPLER = "torch.utils.data.BatchSampler"
_RANDOM = frozenset(
    f"torch.utils.data.{name}" for name in ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
)
_IN_ORDER = "torch.utils.data.SequentialSampler"
_RANK_WORDS = frozenset({"rank", "num_replicas", "get_rank", "get_world_size", "world_size"})


class SamplerKind(Enum):
    """What a sampler does. ``OWN``: a class of the project that does not show that it shares anything out."""

    NONE = "none"
    DISTRIBUTED = "shares the dataset out over the ranks"
    RANDOM = "torch's, random, the whole dataset"
    IN_ORDER = "torch's, in order, the whole dataset"
    OWN = "the project's own"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sampler:
    """One thing that a loader's sampler can be; ``made`` is the call that makes it, where one can be seen.

    ``batches``: what lies between it and the loader, a BatchSampler or a batch sampler of the project.
    """

    kind: SamplerKind
    made: Call | None = None
    batches: Call | None = None


class Samplers:
    """Answers for the samplers of a project."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def of(self, given: Expression, batches: Call | None = None) -> tuple[Sampler, ...]:
        """Return everything that an expression given as ``sampler`` or ``batch_sampler`` can be."""
        found: dict[Sampler, None] = {}
        for origin in self._resolver.origins(given):
            if isinstance(origin, Constant) and origin.value is None:
                found[Sampler(SamplerKind.NONE)] = None
            elif isinstance(origin, Call):
                found.update(dict.fromkeys(self._made(origin, batches)))
            else:
                found[Sampler(SamplerKind.UNKNOWN)] = None
        return tuple(found)

    def _made(self, call: Call, batches: Call | None) -> Iterator[Sampler]:
        kinds = self._resolver.kinds(call.callee)
        cls = self._class_made(call)
        inner = argument(self._resolver, call, "sampler") if BATCH_SAMPLER in kinds and batches is None else None
        if isinstance(inner, Expression):
            yield from self.of(inner, call)
        elif self.is_distributed(call):
            yield Sampler(SamplerKind.DISTRIBUTED, call, batches)
        elif kinds & _RANDOM and cls is None:
            yield Sampler(SamplerKind.RANDOM, call, batches)
        elif _IN_ORDER in kinds and cls is None:
            yield Sampler(SamplerKind.IN_ORDER, call, batches)
        elif cls is not None:
            yield Sampler(SamplerKind.OWN, call, batches)
        else:
            yield Sampler(SamplerKind.UNKNOWN, call, batches)

    def is_distributed(self, call: Call) -> bool:
        """Whether a call makes a sampler that shares a dataset out: torch's, a subclass, or an own one by rank."""
        if DISTRIBUTED_SAMPLER in self._resolver.kinds(call.callee):
            return True
        cls = self._class_made(call)
        return cls is not None and any(self._reads_rank(method) for method in self._methods(cls))

    def awaits_epoch(self, call: Call) -> bool:
        """Whether a call makes a distributed sampler whose order changes only when ``set_epoch`` is called.

        So it is for torch's, and for classes of the project that draw their order from ``self.epoch`` and leave it to
        others to set that.
        """
        kinds = self._resolver.kinds(call.callee)
        cls = self._class_made(call)
        if cls is None:
            return kinds == {DISTRIBUTED_SAMPLER}
        # Most calls make no sampler: what can be told from the class alone comes first.
        settable = DISTRIBUTED_SAMPLER in kinds or self._resolver.method(cls, "set_epoch") is not None
        if not settable or UNKNOWN_NAME in kinds:
            return False
        if self._sets_epoch_itself(cls) or not self.is_distributed(call):
            return False
        order = self._resolver.method(cls, "__iter__")
        return DISTRIBUTED_SAMPLER in kinds if order is None else self._reads_epoch(order)

    def shuffles(self, call: Call) -> bool | None:
        """Whether a call makes a distributed sampler that shuffles; None where that is not known."""
        given = argument(self._resolver, call, "shuffle")
        if given is Missing.UNKNOWN:
            return None
        if isinstance(given, Expression):
            values = self._truths(given)
            if True in values:
                return True
            return False if values == {False} else None
        return self._shuffles_by_default(call)

    def _shuffles_by_default(self, call: Call) -> bool | None:
        constructor = self._resolver.function_of(call)
        if constructor is None:
            return True  # torch's default, also that of a subclass without a constructor of its own
        parameter = constructor.parameter("shuffle")
        if parameter is not None:
            return bool(parameter.default.value) if isinstance(parameter.default, Constant) else None
        settled = [
            given.value.value
            for inner in constructor.script.calls
            if inner.region.within(constructor.region)
            for given in inner.arguments
            if given.keyword == "shuffle" and isinstance(given.value, Constant)
        ]
        return bool(settled[0]) if settled else True

    def _truths(self, given: Expression) -> set[bool | None]:
        """Return how a flag can come out; None among them: that can't be told."""
        found: set[bool | None] = set()
        for origin in self._resolver.origins(given):
            if isinstance(origin, Constant):
                found.add(bool(origin.value))
            elif isinstance(origin, Comparison) and origin.comparisons[0][0] == "==" and len(origin.comparisons) == 1:
                found |= self._equal(origin.left, origin.comparisons[0][1])
            else:
                found.add(None)
        return found

    def _equal(self, left: Expression, right: Expression) -> set[bool | None]:
        """Return how a comparison can come out."""
        return {
            one.value == other.value if isinstance(one, Constant) and isinstance(other, Constant) else None
            for one in self._resolver.origins(left)
            for other in self._resolver.origins(right)
        }

    def _class_made(self, call: Call) -> Class | None:
        return next(iter(self._resolver.classes(call.callee)), None)

    def _methods(self, cls: Class) -> Iterator[Function]:
        return (method for heir in self._resolver.lineage(cls) for method in heir.methods.values())

    def _reads_rank(self, method: Function) -> bool:
        if any(parameter.name in _RANK_WORDS for parameter in method.parameters):
            return True
        script = method.script
        names = (read.id for read in script.names if read.region.within(method.region))
        attributes = (read.name for read in script.attributes if read.region.within(method.region))
        return not _RANK_WORDS.isdisjoint({*names, *attributes})

    def _reads_epoch(self, method: Function) -> bool:
        return any(read.name == "epoch" and read.region.within(method.region) for read in method.script.attributes)

    def _sets_epoch_itself(self, cls: Class) -> bool:
        """Whether a class counts its epochs itself: sets ``self.epoch`` outside of ``set_epoch``, or calls that."""
        for method in self._methods(cls):
            if method.name in ("__init__", "set_epoch"):
                continue
            inside = [store for store in method.script.stores if store.region.within(method.region)]
            if any(store.name == "epoch" for store in inside):
                return True
            calls = [call for call in method.script.calls if call.region.within(method.region)]
            if any(isinstance(call.callee, Attribute) and call.callee.name == "set_epoch" for call in calls):
                return True
        return False
