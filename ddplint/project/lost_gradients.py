"""Values gathered from all ranks for a loss, by a collective through which no gradient comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.semantics import Attribute, Call, Expression, Name, Script, Sequence
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Collectives that write into their first argument what all ranks have in their second, and record no gradient.
_GATHERS = frozenset(
    f"torch.distributed.{name}" for name in ("all_gather", "all_gather_into_tensor", "_all_gather_base")
)
_AUTOGRAD = "torch.autograd.Function"
_LOSS = re.compile(r"(?:\w*_)?(?:loss|criterion|cross_entropy|kl_div|log_softmax|logsumexp)|\w*Loss", re.IGNORECASE)
_EVALUATES = re.compile(r"(?:^|_)(?:val|valid\w*|eval\w*|test\w*|infer\w*|metrics?|accuracy)(?:_|$)", re.IGNORECASE)
# What such names hold has no gradient.
_PLAIN = re.compile(
    r"(?:\w*_)?(?:labels?|targets?|lbls?|ids?|idxs?|ind(?:ex|ices)|masks?|lens?|lengths?|sizes?|counts?|num|rank|ys?|gt)"
    r"|\w*(?:teacher|momentum|memory|queue|bank|ema|reference)\w*|(?:\w*_)?(?:k|keys?|ref)(?:_\w*)?",
    re.IGNORECASE,
)
# Where a gradient ends.
_ENDS = frozenset({"detach", "data", "item", "tolist", "numpy", "long", "int", "argmax", "no_grad", "bool"})
# What is asked of a tensor whatever its numbers are.
_ABOUT = frozenset({"shape", "size", "device", "dtype", "dim", "ndim", "numel", "requires_grad", "is_cuda"})
_ASKS = frozenset({"len", "zeros_like", "empty_like", "ones_like", "isinstance", "type"})
_JOINS = frozenset({"cat", "stack", "concat", "concatenate", "append", "insert"})
# Calls between a gather and a loss that are looked through.
_DEEPEST = 4


class _LocalUse(IntEnum):
    """What is done beside the loss with the values of the own rank."""

    NONE = 0
    BESIDE = 1
    PUT_BACK = 2


@dataclass(frozen=True, slots=True)
class LostGradient:
    """A gather whose result a loss is computed from.

    ``beside``: the values of the own rank go into the loss on another way as well, so that a part of the gradient
    gets through.
    """

    gather: Call
    loss: Call
    beside: bool


class LostGradients:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[LostGradient]:
        """Yield the gathers of a script that keep the gradient of a loss from the model, as far as can be seen.

        Not where the values of the own rank are put back into what was gathered.
        """
        for gather in self._project.calls(script, *_GATHERS):
            if self._records_nothing_anyway(gather) or len(gather.arguments) < 2:
                continue
            found = [one for one in self._of(gather) if one is not None]
            if found:
                yield min(found, key=lambda one: one.beside)

    def _records_nothing_anyway(self, gather: Call) -> bool:
        """Whether no gradient is wanted at a place, or the function around it takes care of it."""
        function = gather.scope.function
        if self._project.training.without_gradient(gather):
            return True
        if function is None or function.parameter("ctx") is not None or _EVALUATES.search(function.name):
            return True
        cls = function.cls
        return cls is not None and any(_AUTOGRAD in self._project.names(base) for base in cls.bases)

    def _of(self, gather: Call) -> Iterator[LostGradient | None]:
        gathered, given = gather.arguments[0].value, gather.arguments[1].value
        if not isinstance(gathered, Name) or _has_end(given):
            return
        reads = {id(read) for read in self._reads_after(gathered, gather)}
        for loss in self._losses_above(gather):
            for piece, frame in self._project.dependence.pieces(loss):
                if id(piece) in reads and self._carries_gradient(given, frame):
                    use = self._local_use(given, gather, frame, loss)
                    beside = use is _LocalUse.BESIDE or self._has_other_input(gather, loss)
                    if use is not _LocalUse.PUT_BACK:
                        yield LostGradient(gather, loss, beside)

    def _reads_after(self, name: Name, after: Expression) -> Iterator[Name]:
        """Yield where the same value is read later in the same function."""
        held = reaching(name.id, name)
        for read in name.scope.script.names:
            same = read.id == name.id and read.order > after.order and read.scope.function is name.scope.function
            if same and reaching(read.id, read) == held:
                yield read

    def _losses_above(self, gather: Call) -> list[Call]:
        """Return the calls that compute a loss, in the function of a gather and in those that call it."""
        functions: dict[int, Function] = {}
        pending = [gather.scope.function]
        for _ in range(_DEEPEST):
            known = [one for one in pending if one is not None and id(one) not in functions]
            functions.update({id(one): one for one in known})
            pending = [call.scope.function for one in known for call in self._project.callers(one)[0]]
        return [call for one in functions.values() for call in one.script.calls_in(one) if self._is_loss(call)]

    def _is_loss(self, call: Call) -> bool:
        function = call.scope.function
        if not _LOSS.fullmatch(last_name(call.callee)) or self._project.training.without_gradient(call):
            return False
        return function is None or not _EVALUATES.search(function.name)

    def _carries_gradient(self, given: Expression, frame: Frame | None) -> bool:
        """Whether what is gathered comes out of a model, or is handed to the loss under a name that says as much."""
        pieces = list(self._project.dependence.pieces(given, frame, lambda piece, _: _has_end(piece)))
        if any(_is_end(piece) for piece, _ in pieces):
            return False
        calls = [piece for piece, _ in pieces if isinstance(piece, Call) and self._runs_module(piece)]
        if calls:
            return not any(map(self._project.training.without_gradient, calls))
        roots = [
            piece for piece, inside in pieces if isinstance(piece, Name) and self._comes_from_outside(piece, inside)
        ]
        return bool(roots) and not any(_PLAIN.fullmatch(root.id) for root in roots)

    def _runs_module(self, call: Call) -> bool:
        if any(self._project.models.is_module(cls) for cls in self._project.resolver.classes(call.callee)):
            return False  # this makes the module
        cls = self._project.resolver.class_of(call.callee)
        if cls is not None and self._project.models.is_module(cls):
            return True
        origins = self._project.origins(call.callee)
        return any(isinstance(one, Call) and self._project.models.is_made_module(one) for one in origins)

    def _comes_from_outside(self, name: Name, frame: Frame | None) -> bool:
        """Whether a name is a parameter of a ``forward`` for which no caller in sight gives anything."""
        bindings = reaching(name.id, name) or ()
        parameters = [binding.parameter for binding in bindings if binding.parameter is not None]
        if len(parameters) != 1 or parameters[0].function.name != "forward" or parameters[0].index == 0:
            return False
        return frame is None or frame.function is not parameters[0].function

    def _has_other_input(self, gather: Call, loss: Call) -> bool:
        """Whether something goes into a loss that its ``forward`` is handed, and that is not gathered."""
        function = gather.scope.function
        if function is None or function is not loss.scope.function:
            return False
        gathers = self._project.calls(function.script, *_GATHERS)
        inside = [call for call in gathers if call.scope.function is function]
        parts = (part for call in inside for given in call.arguments for part in given.value.walk())
        known = {part.id for part in parts if isinstance(part, Name)}
        pieces = (piece for piece, _ in self._project.dependence.pieces(loss, stop=lambda piece, _: _is_asked(piece)))
        names = [piece for piece in pieces if isinstance(piece, Name) and piece.id not in known]
        return any(self._comes_from_outside(name, None) and not _PLAIN.fullmatch(name.id) for name in names)

    def _local_use(self, given: Expression, at: Call, frame: Frame | None, loss: Call) -> _LocalUse:
        """Return what else becomes of the values of the own rank, up to the function that computes the loss."""
        found = _LocalUse.NONE
        while isinstance(given, Name):
            found = max([found, *(self._use_of(read) for read in self._reads_after(given, at))])
            bindings = reaching(given.id, given) or ()
            parameter = next((binding.parameter for binding in bindings if binding.parameter is not None), None)
            if frame is None or parameter is None or at.scope.function is loss.scope.function:
                break
            handed = self._project.frames.given(parameter, frame)
            if handed is None:
                break
            given, at, frame = handed[0], frame.call, frame.outer
        return found

    def _use_of(self, read: Name) -> _LocalUse:
        uses = self._project.uses(read.scope.script)
        if uses.stores(read):
            return _LocalUse.PUT_BACK
        around = uses.parent(read)
        if isinstance(around, Attribute) and around.name in _ABOUT:
            return _LocalUse.NONE
        if isinstance(around, Call) and last_name(around.callee) in _ASKS:
            return _LocalUse.NONE
        if isinstance(around, Sequence) or (isinstance(around, Call) and last_name(around.callee) in _JOINS):
            return _LocalUse.PUT_BACK
        return _LocalUse.BESIDE


def _is_asked(piece: Expression) -> bool:
    """Whether an expression asks for the form of a tensor only: its shape, its device."""
    return isinstance(piece, Call | Attribute) and last_name(piece) in _ABOUT | _ASKS


def _is_end(piece: Expression) -> bool:
    return isinstance(piece, Call | Attribute) and last_name(piece) in _ENDS


def _has_end(expression: Expression) -> bool:
    return any(map(_is_end, expression.walk()))
