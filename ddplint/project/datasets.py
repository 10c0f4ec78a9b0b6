"""Datasets: whether each rank has all of one or a share of its own, and which only hand out what comes next."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Constant, Expression, Mapping, Name, Subscript
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import LOCAL, UNKNOWN_NAME
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Origin, Part
from ddplint.semantics.structure import Class, Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

ITERABLE = "torch.utils.data.IterableDataset"
# Packages whose functions give whole datasets, to be picked from by index.
_WHOLE = ("torch.utils.data.", "torchvision.datasets.", "torchaudio.datasets.", "datasets.load_dataset", "sklearn.")
_PICKS = frozenset({"torch.utils.data.Subset", "torch.utils.data.random_split"})
_TENSORS = "torch.utils.data.TensorDataset"
# Names of classes that keep what happens to their process.
_COLLECTS = re.compile(r"Replay|Rollout|Experience|Transitions")
# Packages and classes that hand out what comes next, or share out by themselves.
_STREAMS = re.compile(r"webdataset|(?:^|\.)wds\.|streaming|litdata|torchdata|ffcv|dali|deeplake|Iterable|Stream|Pipe")
_RANDOM = re.compile(r"^(?:random|numpy\.random|torch\.(?:rand|bernoulli|multinomial|normal|poisson))")
_DRAWS = frozenset(
    {"shuffle", "sample", "choice", "choices", "randint", "permutation", "integers", "uniform", "normal"}
)


class Share(Enum):
    """What each rank has of a dataset."""

    WHOLE = "all of it"
    OWN = "may be a share of its own"
    UNKNOWN = "unknown"


class Datasets:
    """Answers for the datasets of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def share(self, dataset: Expression) -> Share:
        """Return what each rank has of the dataset that an expression names."""
        if self._project.rank_parts.shares(dataset):
            return Share.OWN
        origins = self._origins(dataset)
        if any(_COLLECTS.search(cls.name) for cls in self.classes(dataset)):
            return Share.OWN
        if not all(map(self._is_whole, origins)) or any(map(self._is_made_on_the_way, origins)):
            return Share.UNKNOWN
        return Share.OWN if any(self._is_cut(origin) for origin in origins if isinstance(origin, Call)) else Share.WHOLE

    def is_iterable(self, dataset: Expression) -> bool | None:
        """Whether a dataset has no indices, so that no sampler can share it out; None where that is not known."""
        answers = {self._iterates(origin) for origin in self._origins(dataset)}
        return answers.pop() if len(answers) == 1 else None

    def differ(self, one: Expression, other: Expression) -> bool | None:
        """Whether two datasets certainly have other samples; None where that is not known.

        What is made from the other one may have as many samples, unless it is known for picking some.
        """
        made, against = self._makers(one), self._makers(other)
        if made is None or against is None:
            return None
        if made & against or any(_are_alike(one, other) for one in made for other in against):
            return False
        outer = [makers for makers, inner in ((made, against), (against, made)) if self._made_from(makers, inner)]
        return True if all(map(self._picks, outer)) else None

    def draws(self, dataset: Expression) -> bool:
        """Whether a dataset of the project makes up what it hands out from random numbers."""
        return any(self._draws(cls) for cls in self.classes(dataset))

    def classes(self, dataset: Expression) -> tuple[Class, ...]:
        """Return the classes of the project that a dataset can be of, and those of what it is made from."""
        calls = (piece for piece in self._project.rank_parts.pieces(dataset) if isinstance(piece, Call))
        return tuple(dict.fromkeys(cls for call in calls for cls in self._project.resolver.classes(call.callee)))

    def _origins(self, dataset: Expression) -> tuple[Origin, ...]:
        """Return what can have made a dataset; one of a dict of datasets, by whatever key, can be any of them."""
        return tuple(made for origin in self._project.origins(dataset) for made in self._held(origin))

    def _held(self, origin: Origin) -> tuple[Origin, ...]:
        if not isinstance(origin, Subscript) or isinstance(origin.index, Constant):
            return (origin,)
        kept = self._project.origins(origin.base)
        values = [value for held in kept if isinstance(held, Mapping) for _, value in held.items]
        found = tuple(made for value in values for made in self._project.origins(value))
        return found if found and all(isinstance(held, Mapping) for held in kept) else (origin,)

    def _is_made_on_the_way(self, origin: Origin) -> bool:
        """Whether tensors become a dataset in a loop: each rank has played or computed its own."""
        if not isinstance(origin, Call) or not origin.region.loops:
            return False
        return _TENSORS in self._project.names(origin.callee)

    def _is_cut(self, made: Call) -> bool:
        """Whether a dataset is told the rank after it was made: ``dataset.split(rank)``, ``dataset.rank = rank``."""
        trail, parts = self._project.trail(made), self._project.rank_parts
        if any(store.value is not None and parts.shares(store.value) for store in trail.stores):
            return True
        methods = set(map(id, trail.attributes))
        scripts = {id(read.scope.script): read.scope.script for read in trail.attributes}
        calls = (call for script in scripts.values() for call in script.calls if id(call.callee) in methods)
        return any(parts.differs(given.value) for call in calls for given in call.arguments)

    def _makers(self, dataset: Expression) -> frozenset[Call] | None:
        """Return the calls that can have made a dataset, None when something else can."""
        origins = self._origins(dataset)
        calls = [origin.of if isinstance(origin, Part) else origin for origin in origins]
        makers = frozenset(call for call in calls if isinstance(call, Call) and self._makes_dataset(call))
        return makers if origins and len(makers) == len(set(calls)) else None

    def _makes_dataset(self, call: Call) -> bool:
        names = self._project.names(call.callee)
        return UNKNOWN_NAME not in names and (self._is_whole(call) or self._picks({call}))

    def _made_from(self, makers: Collection[Call], inner: Collection[Call]) -> bool:
        """Whether datasets are made from others: among their arguments."""
        given = [argument.value for maker in makers for argument in maker.arguments]
        return any(piece in inner for value in given for piece in self._project.rank_parts.pieces(value))

    def _picks(self, makers: Collection[Call]) -> bool:
        """Whether the calls give a dataset of some of the samples of another one."""
        return all(self._project.names(maker.callee) & _PICKS for maker in makers)

    def _is_whole(self, origin: Origin) -> bool:
        """Whether something is a dataset of which it is known what it holds: all that its maker was given."""
        if isinstance(origin, Part) and isinstance(origin.of, Call) and self._picks({origin.of}):
            whole = self._project.argument(origin.of, "dataset")
            return isinstance(whole, Expression) and all(map(self._is_whole, self._origins(whole)))
        if not isinstance(origin, Call):
            return False
        classes = self._project.resolver.classes(origin.callee)
        names = self._project.names(origin.callee)
        if classes:
            return not any(self._ignores_index(cls) for cls in classes)
        if UNKNOWN_NAME in names or any(name.startswith(LOCAL) or _STREAMS.search(name) for name in names):
            return False
        return all(name.startswith(_WHOLE) or last_name(origin)[:1].isupper() for name in names)

    def _iterates(self, origin: Origin) -> bool | None:
        if not isinstance(origin, Call):
            return False if self._is_whole(origin) else None
        if ITERABLE in self._project.resolver.kinds(origin.callee):
            return True
        return self._streams(origin) or (False if self._is_whole(origin) else None)

    def _streams(self, call: Call) -> bool:
        """Whether a call, or the one whose result its method is called on, loads a dataset as a stream."""
        for piece in self._project.rank_parts.pieces(call):
            if isinstance(piece, Call) and "datasets.load_dataset" in self._project.names(piece.callee):
                given = self._project.argument(piece, "streaming")
                return isinstance(given, Constant) and given.value is True
        return False

    def _ignores_index(self, cls: Class) -> bool:
        """Whether ``__getitem__`` never reads the index: it hands out something else each time."""
        method = self._project.resolver.method(cls, "__getitem__")
        if method is None or len(method.parameters) < 2:
            return False
        index = method.parameters[1]
        reads = (name for name in method.script.names if name.region.within(method.region))
        return index.kind == "positional" and not any(name.id == index.name for name in reads)

    def _draws(self, cls: Class) -> bool:
        methods = [method for heir in self._project.resolver.lineage(cls) for method in heir.methods.values()]
        return any(self._draws_in(method) for method in methods if method.name != "__init__")

    def _draws_in(self, method: Function) -> bool:
        calls = self._project.reach.onward(self._project.reach.calls_in(method))
        return any(
            last_name(call) in _DRAWS or any(map(_RANDOM.match, self._project.names(call.callee))) for call in calls
        )


def _are_alike(one: Call, other: Call) -> bool:
    """Whether two calls are written alike, with names that stand for the same."""
    if not one.node.deep_equals(other.node):
        return False
    pairs = zip(one.walk(), other.walk(), strict=True)
    return all(reaching(a.id, a) == reaching(b.id, b) for a, b in pairs if isinstance(a, Name) and isinstance(b, Name))
