"""Evaluations that count some samples twice: those with which a sampler evens out the shares of the ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.passes import Purpose
from ddplint.project.reach import body_of
from ddplint.project.samplers import DISTRIBUTED_SAMPLER, SamplerKind
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Operation, Script, Slice
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Loop

if TYPE_CHECKING:
    from ddplint.project.loaders import Loader
    from ddplint.project.project import Project

# Collectives that add up what the ranks counted.
_ADD_UP = frozenset({"all_reduce", "reduce", "allreduce"})
# What tells samples apart after they were evaluated, so that one that comes twice counts once.
_TELLS_APART = ("unique", "image_id", "img_id", "image_ids", "sample_id", "seen_ids", "drop_duplicates")


@dataclass(frozen=True, slots=True)
class Padding:
    """A sampler that repeats samples to fill up the last ranks, and the exchange that counts them with the others.

    ``samples``: how many there are without them, None where that is not known.
    """

    sampler: Call
    loader: Call
    exchange: Call
    samples: int | None


class Paddings:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Padding]:
        """Yield the samplers of a script that fill up an evaluation whose counts the ranks add up.

        Left out: samplers that drop the rest, code that asks whether the samples can be shared out evenly, and
        evaluations that cut the repeated samples off or tell them apart.
        """
        for loader in self._project.loaders(script):
            samplers = [sampler for sampler in loader.samplers if sampler.kind is not SamplerKind.NONE]
            if len(samplers) != 1 or samplers[0].made is None or not self._fills_up(samplers[0].made):
                continue
            if loader.purpose is not Purpose.EVALUATION or self._asks_for_rest(samplers[0].made):
                continue
            exchange = self._exchange(loader)
            if exchange is not None:
                dataset = self._project.argument(samplers[0].made, "dataset")
                samples = self._project.lengths.of(dataset) if isinstance(dataset, Expression) else None
                yield Padding(samplers[0].made, loader.call, exchange, samples)

    def _fills_up(self, sampler: Call) -> bool:
        if not self._project.certainly(sampler.callee, DISTRIBUTED_SAMPLER):
            return False
        dropped = self._project.argument(sampler, "drop_last")
        return dropped is Missing.ABSENT or (isinstance(dropped, Constant) and dropped.value is False)

    def _asks_for_rest(self, sampler: Call) -> bool:
        """Whether the code around a sampler computes a remainder of a length: somebody thought of the rest."""
        body = body_of(sampler)
        rests = (each for each in sampler.scope.script.operations if each.operator == "%" and body_of(each) is body)
        return any(_is_length(operand) for rest in rests for operand in rest.operands)

    def _exchange(self, loader: Loader) -> Call | None:
        """Return the call that adds up over the ranks what a loop over a loader counted."""
        for consumer in loader.trail.consumers:
            if isinstance(consumer, Loop):
                calls = self._around(consumer)
                exchange = next((call for call in calls if self._adds_up(call, consumer)), None)
                if exchange is not None and not self._tells_apart(consumer, exchange):
                    return exchange
        return None

    def _around(self, loop: Loop) -> list[Call]:
        function = loop.statement.region.scope.function
        return [call for call in loop.statement.region.scope.script.calls_in(function) if call.order > loop.order]

    def _adds_up(self, call: Call, loop: Loop) -> bool:
        """Whether a call sums over the ranks something that a loop made, itself or in a function of the project."""
        if _ADD_UP.isdisjoint(self._project.collectives.of_call(call)):
            return False
        return any(
            loop in piece.region.loops for piece, _ in self._project.dependence.pieces(call) if piece is not call
        )

    def _tells_apart(self, loop: Loop, exchange: Call) -> bool:
        """Whether repeated samples are cut off or told apart on the way from a loop to an exchange and behind it."""
        start = [call for call in self._around(loop) if not self._project.training.shows_training(call)]
        scripts = {id(script): script for call in (*start, exchange) for script in (call.scope.script,)}
        bodies = {id(body_of(call)): body_of(call) for call in self._project.reach.onward(start)}
        inside = (body if isinstance(body, Script) else body.script for body in bodies.values())
        for script in [*scripts.values(), *inside]:
            cuts = (cut.index for cut in script.sliced if id(body_of(cut)) in bodies and isinstance(cut.index, Slice))
            if any(cut.upper is not None and _is_length(cut.upper) for cut in cuts):
                return True
            words = (each for each in (*script.names, *script.attributes) if id(body_of(each)) in bodies)
            if any(last_name(word) in _TELLS_APART for word in words):
                return True
            constants = (part.index for part in script.subscripts if id(body_of(part)) in bodies)
            if any(isinstance(index, Constant) and index.value in _TELLS_APART for index in constants):
                return True
        return False


def _is_length(value: Expression) -> bool:
    """Whether a number is, or is called like, how many samples there are."""
    if isinstance(value, Operation):
        return any(map(_is_length, value.operands))
    if isinstance(value, Call):
        return last_name(value) == "len"
    word = last_name(value).lower() if isinstance(value, Name | Attribute) else ""
    return any(part in word for part in ("len", "num", "size", "total", "count", "n_"))
