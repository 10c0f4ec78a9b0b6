"""Losses that are a mean over a number of items which each rank counts for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD, is_backward
from ddplint.project.dependence import Piece
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Operation, Script
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

_SUMS = frozenset({"sum", "nansum", "count_nonzero"})


@dataclass(frozen=True, slots=True)
class LossMean:
    """A division that makes a sum of losses a mean over the items of one rank, and the backward pass that it goes to.

    ``count``: what is divided by.
    """

    division: Expression
    count: Expression
    backward: Call


class LossMeans:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[LossMean]:
        """Yield the means over a count of its own that DistributedDataParallel averages over the ranks afterwards.

        The count is the sum of a whole tensor, a mask or weights, in which the model has no part, and which no
        collective takes. Each division is yielded once, whatever the script it stands in.
        """
        told: set[int] = set()
        for call in script.calls:
            if not is_backward(call) or not isinstance(call.callee, Attribute):
                continue
            pieces = list(self._project.dependence.pieces(call.callee.base))
            if not any(self._is_forward(piece) for piece in pieces) or self._knows_world(pieces):
                continue
            for piece, frame in pieces:
                mean = self._mean((piece, frame), call)
                if mean is not None and id(piece) not in told:
                    told.add(id(piece))
                    yield mean

    def _mean(self, piece: Piece, backward: Call) -> LossMean | None:
        division, frame = piece
        if not isinstance(division, Operation) or division.operator != "/" or len(division.operands) != 2:
            return None
        top, bottom = division.operands
        if not self._is_total(top) or not self._is_total(bottom):
            return None
        counted = list(self._project.dependence.pieces(bottom, frame))
        if any(self._is_forward(part) for part in counted) or any(self._is_agreed(part) for part, _ in counted):
            return None
        return LossMean(division, bottom, backward)

    def _is_total(self, value: Expression) -> bool:
        """Whether a number is the sum of a whole tensor, whatever small number keeps it from being zero."""
        if isinstance(value, Operation) and value.operator in ("+", "*"):
            return any(map(self._is_total, value.operands)) and all(
                self._is_total(part) or self._is_fixed(part) or value.operator == "*" for part in value.operands
            )
        if isinstance(value, Name):
            origins = self._project.origins(value)
            return bool(origins) and all(isinstance(made, Expression) and self._is_sum(made) for made in origins)
        return self._is_sum(value)

    def _is_sum(self, value: Expression) -> bool:
        if not isinstance(value, Call):
            return isinstance(value, Operation) and self._is_total(value)
        word = last_name(value)
        if word in ("clamp", "clamp_min", "clamp_", "max", "float", "item", "to", "maximum", "detach"):
            inner = [value.callee.base] if isinstance(value.callee, Attribute) else []
            return any(map(self._is_total, [*inner, *(given.value for given in value.arguments)]))
        if word not in _SUMS:
            return False
        method = isinstance(value.callee, Attribute) and not self._project.certainly(
            value.callee, f"torch.{word}", f"builtins.{word}"
        )
        return len(value.arguments) == (0 if method else 1)

    def _is_fixed(self, value: Expression) -> bool:
        return all(isinstance(origin, Constant) for origin in self._project.origins(value))

    def _is_forward(self, piece: Piece) -> bool:
        call, frame = piece
        return isinstance(call, Call) and self._project.collectives.own(call, frame) == FORWARD

    def _is_agreed(self, piece: Expression) -> bool:
        """Whether the ranks exchange a value."""
        if isinstance(piece, Call):
            return self._project.exchanges.gives(piece)
        return isinstance(piece, Name) and self._project.exchanges.touch(piece)

    def _knows_world(self, pieces: list[Piece]) -> bool:
        """Whether the number of processes has a part in a loss: somebody makes up for the mean over the ranks."""
        return any(self._project.scaling.is_world(piece) for piece, _ in pieces)
