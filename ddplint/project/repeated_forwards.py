"""Wrapped models that run forward more than once before one backward pass, while DDP keeps their BatchNorm equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from ddplint.project.buffers import Buffers
from ddplint.project.collectives import FORWARD, is_backward
from ddplint.project.frames import Frame
from ddplint.project.models import Wrapper
from ddplint.semantics import Attribute, Call, Comparison, Expression, Script
from ddplint.semantics.arguments import Missing
from ddplint.semantics.conditions import contradict
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Function, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What comes out of these has no gradient.
_CUTS = frozenset({"detach", "detach_", "item", "tolist", "numpy", "argmax", "argmin", "size", "len"})


@dataclass(frozen=True, slots=True)
class RepeatedForward:
    """Two forward passes of one wrapped model that one backward pass goes through; the same twice: it is in a loop.

    ``wrap``: the call of DistributedDataParallel. ``layer``: a call that makes a BatchNorm of the model.
    """

    first: Call
    second: Call
    backward: Call
    wrap: Call
    layer: Call


class RepeatedForwards:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, function: Function | None, script: Script) -> Iterator[RepeatedForward]:
        """Yield one for each wrapped model and each backward pass that stands in a function, or outside of functions.

        Left out are models whose buffers are not exchanged in the forward, and programs that synchronise BatchNorm:
        such layers keep nothing for the backward pass that an exchange changes.
        """
        backwards = [call for call in script.calls_in(function) if is_backward(call)]
        if not backwards or self._project.normalisation.is_synchronised(script):
            return
        seen: set[tuple[int, int]] = set()
        for frame in self._project.frames.ways(function):
            for found in (found for backward in backwards for found in self._before(backward, frame)):
                if (id(found.wrap), id(found.backward)) not in seen:
                    seen.add((id(found.wrap), id(found.backward)))
                    yield found

    def _before(self, backward: Call, frame: Frame | None) -> Iterator[RepeatedForward]:
        """Yield the wrapped models that a backward pass goes through more than once."""
        by_wrap: dict[int, list[tuple[Call, Call, Call]]] = {}
        for piece, inside in self._project.dependence.pieces(backward, frame, self._has_no_gradient):
            if isinstance(piece, Call) and self._records(piece, inside):
                for wrap, layer in self._exchanging(piece, inside):
                    by_wrap.setdefault(id(wrap), []).append((piece, wrap, layer))
        for found in by_wrap.values():
            _, wrap, layer = found[0]
            pair = self._pair([forward for forward, _, _ in found], backward)
            if pair is not None:
                yield RepeatedForward(*pair, backward, wrap, layer)

    def _records(self, call: Call, frame: Frame | None) -> bool:
        """Whether a call is a forward pass through the wrapper that records a gradient."""
        own = self._project.collectives.own(call, frame)
        return own == FORWARD and not self._project.training.without_gradient(call)

    def _exchanging(self, forward: Call, frame: Frame | None) -> Iterator[tuple[Call, Call]]:
        """Yield the wrapper of a model, with its BatchNorm, where its forward certainly exchanges them."""
        if self._project.buffers.synchronised(forward.callee, frame) is not Buffers.SOME or _holds_back(forward.region):
            return
        wraps = self._project.models.wraps(forward.callee, Wrapper.DDP, frame)
        for wrap, inside in wraps if len({id(wrap) for wrap, _ in wraps}) == 1 else ():
            module = self._project.argument(wrap, "module")
            layer = None if isinstance(module, Missing) else self._project.normalisation.batch_norm_of(module, inside)
            if layer is not None:
                yield wrap, layer

    def _pair(self, forwards: list[Call], backward: Call) -> tuple[Call, Call] | None:
        """Return two forward passes that one run comes to before a backward pass, in the order of the file."""
        ordered = sorted({id(call): call for call in forwards}.values(), key=lambda call: call.order)
        for first, second in combinations(ordered, 2):
            if first.scope.function is second.scope.function and self._are_together(first, second, backward):
                return first, second
        again = (call for call in ordered if self._is_repeated(call, backward))
        return next(((call, call) for call in again), None)

    def _are_together(self, first: Call, second: Call, backward: Call) -> bool:
        """Whether one run comes to both, and to no other backward pass of the function between them."""
        if contradict(first.region, second.region) or contradict(first.region, backward.region):
            return False
        if first.region.loops != second.region.loops or contradict(second.region, backward.region):
            return False
        between = first.scope.script.calls_in(first.scope.function)
        return not any(self._runs_backward(call) for call in between if first.order < call.order < second.order)

    def _is_repeated(self, forward: Call, backward: Call) -> bool:
        """Whether a forward pass stands in a loop, and its backward pass in the same function behind that loop."""
        if forward.scope.function is not backward.scope.function or not forward.region.loops:
            return False
        loop = forward.region.loops[0]
        inside = [call for call in forward.scope.script.calls_in(forward.scope.function) if loop in call.region.loops]
        return loop not in backward.region.loops and not any(map(self._runs_backward, inside))

    def _runs_backward(self, call: Call) -> bool:
        return any(map(is_backward, self._project.reach.onward([call])))

    def _has_no_gradient(self, piece: Expression, _: Frame | None) -> bool:
        if isinstance(piece, Call):
            return last_name(piece.callee) in _CUTS or self._project.training.without_gradient(piece)
        return isinstance(piece, Comparison) or (isinstance(piece, Attribute) and piece.name in ("data", "shape"))


def _holds_back(region: Region) -> bool:
    """Whether code runs in ``with model.no_sync()``, where nothing is exchanged."""
    contexts = (context for outer in region.chain() for context in outer.contexts)
    return any(isinstance(context, Call) and last_name(context) == "no_sync" for context in contexts)
