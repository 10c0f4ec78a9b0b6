"""Whether the outcome of a test can differ between ranks because each looks at its own share of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD, SHARDED_FORWARD
from ddplint.project.dependence import Piece
from ddplint.project.frames import Frame
from ddplint.project.samplers import SamplerKind
from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Name, Not
from ddplint.semantics import Sequence as Display
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project


class Divergence(Enum):
    """Why ranks can decide differently."""

    RANK = "the test asks for the rank"
    LOSS = "it is computed from the batch of this rank"
    BATCH = "it depends on the batch of this rank"
    METRIC = "it is measured on this rank's share of the data"
    FAILURE = "an exception can strike one rank alone"


# What a value is like, not what it holds: equal on all ranks as long as their batches are of one size.
_FORM = frozenset({"shape", "dtype", "device", "ndim", "requires_grad", "training", "grad_fn", "is_cuda"})
# What the exchange of gradients keeps equal on all ranks.
_KEPT_EQUAL = frozenset({"parameters", "named_parameters", "param_groups", "state_dict", "get_last_lr"})
_ASKS_FORM = frozenset(
    {"len", "isinstance", "hasattr", "type", "callable", "issubclass", "is_tensor", "size", "dim", "numel"}
)
# Calls around a loader, such as ``enumerate(tqdm(loader))``, through which it is looked for.
_WRAPPED = 3
# Calls that hand on the items of what they are given, each in its own way.
_PASS_ON = frozenset({"builtins.enumerate", "builtins.zip", "itertools.cycle", "itertools.islice", "builtins.reversed"})
# Calls that give the same on all ranks, because the gradients are exchanged or because they exchange themselves.
_SHARED = re.compile(r"norm|scaler|reduce|gather|broadcast|sync|average_across|all_?mean|consensus", re.IGNORECASE)
# Exceptions that strike where a batch does not fit, in memory or otherwise; others come to all ranks or to none.
_STRIKES = re.compile(
    r"(?:^|\.)(?:Exception|BaseException|RuntimeError|OutOfMemoryError|ValueError|AssertionError)$|Error$"
)
_STRIKES_ALL = re.compile(
    r"Import|ModuleNotFound|FileNotFound|FileExists|Keyboard|StopIteration|Attribute|Key|Type|Name|NotImplemented|OSError"
)


class Locality:
    """Answers for the tests of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, test: Expression, frame: Frame | None = None) -> Divergence | None:
        """Return why the ranks can answer a test differently; None: they can't, or it is not known.

        A value that has gone through a collective is shared. Only what is proven counts: the output of a wrapped
        model that trains, the batch that it was given, an evaluation over a share of the data.
        """
        found: set[Divergence] = set()
        for piece, inside in self._pieces(test, frame):
            if self._is_shared(piece):
                return None
            source = self._source(piece, inside, test)
            found |= set() if source is None else {source}
        return next((reason for reason in Divergence if reason in found), None)

    def measured_on(self, value: Expression) -> Iterator[Expression]:
        """Yield the names in which loops hand out this rank's share of the data, by which a value is measured."""
        for piece, inside in self._pieces(value, None):
            if self._source(piece, inside, value) is Divergence.METRIC:
                yield piece

    def _pieces(self, test: Expression, frame: Frame | None) -> Iterator[Piece]:
        emptiness = frozenset(map(id, _asked_for_emptiness(test)))
        return self._project.dependence.pieces(
            test, frame, lambda piece, inside: id(piece) not in emptiness and self._stops(piece, inside), tests=True
        )

    def catches_what_strikes_one(self, handler: Region) -> bool:
        """Whether a handler catches exceptions that can strike one rank and not the others."""
        return handler.caught is None or any(_strikes(name) for name in self._caught(handler.caught))

    def _caught(self, caught: Expression) -> Iterator[str]:
        for part in caught.children if not isinstance(caught, Name | Attribute) else (caught,):
            yield from self._project.names(part)

    def _stops(self, piece: Expression, frame: Frame | None) -> bool:
        if isinstance(piece, Call):
            named = last_name(piece.callee)
            return bool(_SHARED.search(named)) or named in _ASKS_FORM | _KEPT_EQUAL or self._trains(piece, frame)
        if isinstance(piece, Attribute):
            return piece.name in _FORM | _KEPT_EQUAL
        return bool(self.handed_out(piece)) or (isinstance(piece, Comparison) and _asks_form(piece))

    def _source(self, piece: Expression, frame: Frame | None, test: Expression) -> Divergence | None:
        if isinstance(piece, Call):
            return Divergence.LOSS if self._trains(piece, frame) else None
        bindings = self.handed_out(piece)
        if not bindings:
            return None
        if piece.scope.function is test.scope.function and self._is_trained_on(bindings, piece, frame):
            return Divergence.BATCH
        shared = any(self._is_share(binding.value, frame) for binding in bindings if binding.value is not None)
        return Divergence.METRIC if shared else None

    def _trains(self, call: Call, frame: Frame | None) -> bool:
        """Whether a call is a forward of a wrapped model from which a backward pass can follow."""
        if self._project.collectives.own(call, frame) not in (FORWARD, SHARDED_FORWARD):
            return False
        around = [call]
        while frame is not None:
            around.append(frame.call)
            frame = frame.outer
        return not any(self._project.training.without_gradient(place) for place in around) and not self._evaluates(call)

    def _evaluates(self, call: Call) -> bool:
        """Whether the function around a call switches a model to evaluation."""
        beside = call.scope.script.calls_in(call.scope.function)
        return any(last_name(other.callee) == "eval" and other.order < call.order for other in beside)

    def handed_out(self, piece: Expression) -> list[Binding]:
        """Return the loops over data, each by its binding, that hand out what a name holds."""
        bindings = (reaching(piece.id, piece) or ()) if isinstance(piece, Name) else ()
        return [binding for binding in bindings if self._is_handed_out(binding)]

    def _is_handed_out(self, binding: Binding) -> bool:
        """Whether a loop over something else than numbers, or than what the code itself lists, sets a name."""
        value, path = binding.value, binding.path
        if binding.kind is not BindingKind.LOOP:
            return False
        while isinstance(value, Call) and value.arguments:
            names = self._project.names(value.callee)
            if "builtins.range" in names or ("builtins.enumerate" in names and path[:1] == (0,)):
                return False
            if not names & _PASS_ON:
                break
            if "builtins.enumerate" in names:
                path = path[1:]
            place = 0
            if "builtins.zip" in names:
                place, path = (path[0] if path else None) or 0, path[1:]
            value = value.arguments[min(place, len(value.arguments) - 1)].value
        return value is not None and not isinstance(value, Display)

    def _is_share(self, iterable: Expression, frame: Frame | None, depth: int = 0) -> bool:
        """Whether what a loop runs over is a loader, or something made around one, that shares the data out."""
        for source, inside in self._project.frames.sources(iterable, frame):
            if not isinstance(source, Call):
                continue
            if self._shares_out(source):
                return True
            around = [given.value for given in source.arguments] if depth < _WRAPPED else []
            if any(self._is_share(given, inside, depth + 1) for given in around):
                return True
        return False

    def _shares_out(self, made: Call) -> bool:
        """Whether a call makes a loader that gives each rank a share of the data."""
        loaders = self._project.loaders(made.scope.script)
        loader = next((loader for loader in loaders if loader.call is made), None)
        kinds = set() if loader is None else {sampler.kind for sampler in loader.samplers}
        return SamplerKind.DISTRIBUTED in kinds and kinds <= {SamplerKind.DISTRIBUTED, SamplerKind.NONE}

    def _is_trained_on(self, bindings: list[Binding], name: Expression, frame: Frame | None) -> bool:
        """Whether a model is trained on what a loop hands out."""
        iterables = [binding.value for binding in bindings]
        return any(
            isinstance(piece, Name) and any(binding.value in iterables for binding in self.handed_out(piece))
            for site in self._project.sites.of(name.scope.function, name.scope.script, frame)
            if site.kind == FORWARD and self._trains(site.collective, site.frame)
            for given in site.call.arguments
            for piece, _ in self._project.dependence.pieces(given.value, frame)
        )

    def _is_shared(self, piece: Expression) -> bool:
        """Whether a value comes out of a collective, or goes through one between where it is set and read."""
        if isinstance(piece, Call):
            return self._project.exchanges.gives(piece)
        return isinstance(piece, Name) and self._project.exchanges.agree_on(piece)


def _asks_form(test: Comparison) -> bool:
    """Whether a comparison only looks at what kind of thing a value is: ``"mask" in batch``, ``loss is None``."""
    keyed = isinstance(test.left, Constant) and any(operator in ("in", "not in") for operator, _ in test.comparisons)
    none = any(operator in ("is", "is not") for operator, _ in test.comparisons) and not isinstance(test.left, Name)
    return keyed or none


def _asked_for_emptiness(test: Expression) -> Iterator[Expression]:
    """Yield the parts of a test that ask whether something is empty: ``len(boxes) == 0``, ``not boxes``."""
    for part in test.walk():
        if isinstance(part, Not) and (isinstance(part.operand, Name) or _counts(part.operand)):
            yield from part.operand.walk()
        elif isinstance(part, Comparison) and any(
            isinstance(side, Constant) and side.value in (0, None) for side in part.children
        ):
            yield from part.walk()


def _counts(part: Expression) -> bool:
    return isinstance(part, Call) and last_name(part.callee) in ("len", "numel")


def _strikes(name: str) -> bool:
    return bool(_STRIKES.search(name)) and not _STRIKES_ALL.search(name)
