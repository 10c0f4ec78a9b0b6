"""How data is run over: how often, and what for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.project.trail import Pass, Trail
from ddplint.project.training import is_backward
from ddplint.semantics import Call, Constant, Expression, Sequence
from ddplint.semantics.structure import Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Functions outward that are searched for the loops around a place.
DEEPEST = 8
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_TRAINING = re.compile(r"(?:pre)?train\w*|trn|fine\w*")
_EVALUATION = re.compile(r"val|vals|valid\w*|eval\w*|test\w*|dev|infer\w*|predict\w*|demo")


class Purpose(Enum):
    """What data is run over for."""

    TRAINING = "training"
    EVALUATION = "evaluation"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Repeat:
    """A pass that happens in every round of a loop; ``inside`` is where the loop comes to it."""

    begun: Pass
    loop: Loop
    inside: Expression


class Passes:
    """Answers how often the values that trails follow are run over, and what for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._trains: dict[int, bool] = {}

    def repeats(self, trail: Trail) -> Iterator[Repeat]:
        """Yield the passes that happen more than once over one value, each with the loop that repeats it.

        A loop in which the value itself is made anew repeats nothing, nor does one that runs once or goes through
        things that are written out.
        """
        made_in = {id(loop) for loop, _ in self._loops_around(trail.start, ())}
        for begun in trail.passes:
            for loop, inside in self._loops_around(begun.at, begun.context):
                if id(loop) not in made_in and not self._runs_few(loop):
                    yield Repeat(begun, loop, inside)
                    break

    def purpose(self, trail: Trail) -> Purpose:
        """Return what is done with what the passes of a trail hand out."""
        words = [word.lower() for name in trail.words for word in _WORD.findall(name)]
        training = any(_TRAINING.fullmatch(word) for word in words)
        evaluation = any(_EVALUATION.fullmatch(word) for word in words)
        if any(self._is_trained_on(consumer) for consumer in trail.consumers):
            return Purpose.EVALUATION if evaluation and not training else Purpose.TRAINING
        if evaluation and not training:
            return Purpose.EVALUATION
        if trail.complete and trail.consumers and all(self._without_gradient(taken) for taken in trail.consumers):
            return Purpose.EVALUATION
        return Purpose.UNKNOWN

    def calls_of(self, consumer: Loop | Call) -> list[Call]:
        """Return the calls in a loop that takes data, or in the loop around a single taking."""
        if isinstance(consumer, Call):
            around = next(self._loops_around(consumer, ()), None)
            return [] if around is None else self.calls_of(around[0])
        script = consumer.statement.region.scope.script
        return [call for call in script.calls if consumer in call.region.loops]

    def _loops_around(
        self, at: Expression, context: tuple[Call, ...], depth: int = 0
    ) -> Iterator[tuple[Loop, Expression]]:
        """Yield the loops around a place, the innermost first, those around the calls of its function included.

        Beside each loop stands what runs in it: the place itself, or the call that leads to it.
        """
        yield from ((loop, at) for loop in at.region.loops if loop.kind is not LoopKind.COMPREHENSION)
        function = at.scope.function
        if function is None or depth == DEEPEST:
            return
        calls = context[-1:] or tuple(self._project.callers(function)[0])
        for call in calls:
            yield from self._loops_around(call, context[:-1], depth + 1)

    def _runs_few(self, loop: Loop) -> bool:
        iterable = loop.iterable
        if isinstance(iterable, Sequence):
            return True
        if isinstance(iterable, Call) and self._project.certainly(iterable.callee, "builtins.range"):
            numbers = self._project.constants(iterable.arguments[-1].value) if len(iterable.arguments) == 1 else None
            return numbers is not None and numbers <= {0, 1}
        return isinstance(iterable, Constant)

    def _is_trained_on(self, consumer: Loop | Call) -> bool:
        if id(consumer) not in self._trains:
            calls = self.calls_of(consumer)
            near = any(map(is_backward, calls))
            self._trains[id(consumer)] = near or any(map(is_backward, self._project.reach.onward(calls)))
        return self._trains[id(consumer)]

    def _without_gradient(self, consumer: Loop | Call) -> bool:
        calls = self.calls_of(consumer)
        return bool(calls) and all(self._project.training.without_gradient(call) for call in calls[:1])
