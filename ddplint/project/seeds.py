"""Seeds: whether one that has to be equal on all ranks is."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Expression, Name, Script, Slice, Subscript
from ddplint.semantics.expressions import last_name
from ddplint.semantics.rank_values import RankValue

if TYPE_CHECKING:
    from ddplint.project.project import Project

_CLOCK = frozenset(
    {"time.time", "time.time_ns", "time.perf_counter", "time.monotonic", "os.getpid", "os.urandom", "uuid.uuid4"}
    | {"datetime.datetime.now", "datetime.datetime.utcnow"}
)
_CHANCE = ("random.", "numpy.random.", "secrets.", "torch.randint", "torch.seed", "torch.initial_seed")
# Whoever draws from a seeded generator on all ranks draws the same.
_SEEDING = (b"manual_seed", b"seed_everything", b"set_seed", b"random.seed", b"seed_all", b"fix_seed", b"setup_seed")
_PERMUTES = frozenset({"torch.randperm", "numpy.random.permutation"})
_SEEDED = frozenset({"numpy.random.RandomState", "numpy.random.default_rng", "random.Random"})


class Spread(Enum):
    """Why a number is another one on each rank."""

    RANK = "is made from the rank"
    CLOCK = "comes from the clock or the process"
    CHANCE = "is drawn without a seed"


class Seeds:
    """Answers for the seeds of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def spread(self, seed: Expression) -> Spread | None:
        """Return why a seed differs between the ranks; None where it does not, or where they exchange it."""
        pieces = list(self._project.rank_parts.pieces(seed))
        if any(isinstance(piece, Name) and self._project.exchanges.touch(piece) for piece in pieces):
            return None
        if self._project.rank_parts.differs(seed) or any(map(self._is_set_apart, pieces)):
            return Spread.RANK
        calls = [name for piece in pieces if isinstance(piece, Call) for name in self._project.names(piece.callee)]
        if not _CLOCK.isdisjoint(calls):
            return Spread.CLOCK
        if any(name.startswith(_CHANCE) for name in calls) and not self._project.mentions(seed.scope.script, _SEEDING):
            return Spread.CHANCE
        return None

    def _is_set_apart(self, piece: Expression) -> bool:
        """Whether an option gets a value of its own on each rank before it is read: ``args.seed += rank``."""
        if not isinstance(piece, Attribute):
            return False
        stores = [store for store in self._project.resolver.stores_of(piece) if store.value is not None]
        later = [store.region.scope is piece.scope and store.order > piece.order for store in stores]
        return any(
            store.value is not None and not after and self._project.rank_parts.differs(store.value)
            for store, after in zip(stores, later, strict=True)
        )

    def of_shards(self, script: Script) -> Iterator[tuple[Subscript, Expression]]:
        """Yield where a script takes each rank's share of a random order, with the seed of that order."""
        for taken in script.sliced:
            if isinstance(taken.index, Slice) and self._is_share(taken.index):
                for order in self._orders(taken.base):
                    yield from ((taken, seed) for seed in self._seeds(order))

    def _is_share(self, index: Slice) -> bool:
        """Whether a slice is ``[rank::world_size]``."""
        if index.lower is None or index.step is None:
            return False
        kinds = self._project.rank_values.kinds(index.step) | self._project.rank_values.kinds(index.lower)
        named = last_name(index.step) in ("world_size", "num_replicas") and "rank" in last_name(index.lower)
        return named or RankValue.WORLD_SIZE in kinds

    def _orders(self, base: Expression) -> Iterator[Call]:
        for piece in self._project.rank_parts.pieces(base):
            if isinstance(piece, Call):
                made_by = self._project.names(piece.callee)
                if made_by & _PERMUTES or last_name(piece) in ("permutation", "permuted"):
                    yield piece

    def _seeds(self, order: Call) -> Iterator[Expression]:
        """Yield the seeds given to the generator of a random order."""
        given = self._project.argument(order, "generator")
        generator = given if isinstance(given, Expression) else None
        if generator is None and isinstance(order.callee, Attribute):
            generator = order.callee.base
        for origin in () if generator is None else self._project.origins(generator):
            if isinstance(origin, Call) and origin.arguments and self._makes_seeded(origin):
                yield origin.arguments[0].value
        if isinstance(generator, Name):
            yield from _seeded_beside(generator)

    def _makes_seeded(self, call: Call) -> bool:
        return bool(self._project.names(call.callee) & _SEEDED) or last_name(call) == "manual_seed"


def _seeded_beside(generator: Name) -> Iterator[Expression]:
    """Yield what a generator is seeded with by statements of the same function."""
    for call in generator.scope.script.calls:
        callee = call.callee
        if isinstance(callee, Attribute) and callee.name == "manual_seed" and call.arguments:
            same = isinstance(callee.base, Name) and callee.base.id == generator.id
            if same and call.scope.function is generator.scope.function:
                yield call.arguments[0].value
