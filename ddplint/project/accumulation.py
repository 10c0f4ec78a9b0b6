"""Loops that gather the gradients of several backward passes before the optimizer steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.acts import Act
from ddplint.project.collectives import FORWARD, is_backward
from ddplint.project.dependence import Piece
from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Logic, Name, Not, Operation, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Loop, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_DIVISION = "/"
# Methods that multiply or divide.
_SCALE = frozenset({"div", "div_", "mul", "mul_", "divide", "true_divide", "truediv"})


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A backward pass in each round of a loop, and the step that the optimizer takes only every ``count`` rounds.

    ``region`` runs when the step is due.
    """

    loop: Loop
    backward: Act
    step: Act
    count: Expression
    region: Region


class Accumulations:
    """Finds the accumulations of scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Accumulation]:
        """Yield the accumulations of a script, one for each step of an optimizer.

        A step counts when it stands under a test of ``number % count``, its backward pass in the same loop before it
        and not under that test; where another backward pass stands under the test as well, it has gradients of its own.
        """
        for function in (None, *script.functions):
            acts = self._project.acts.of(function, script)
            backwards = [act for act in acts if is_backward(act.call)]
            for step in acts if backwards else ():
                if self._project.optimizer_steps.is_step(step.call):
                    yield from self._led_to(step, backwards)

    def loss(self, found: Accumulation) -> Expression | None:
        """Return the loss that a backward pass starts from: without the scaler that multiplies it."""
        backward = found.backward
        callee = backward.call.callee
        if not isinstance(callee, Attribute):
            return None
        loss = callee.base
        if isinstance(loss, Call) and isinstance(loss.callee, Attribute) and loss.callee.name == "scale":
            if len(loss.arguments) != 1:
                return None
            loss = loss.arguments[0].value
        return self._project.acts.outside(backward, loss)

    def may_be_normalised(self, found: Accumulation) -> bool:
        """Whether anything in sight may make up for the number of backward passes that are added up.

        That is: the count, or a sum, has a part in the loss; the loss is divided by something; or the file divides
        anything else by the count: gradients, a learning rate.
        """
        loss = self.loss(found)
        if loss is None:
            return True
        pieces = [piece for piece, _ in self._pieces(loss)]
        function = found.backward.place.scope.function
        if any(self._is_count(piece, found) or _is_sum(piece) for piece in pieces):
            return True
        if any(_divides(piece) for piece in pieces if piece.scope.function is function):
            return True
        script = found.backward.place.scope.script
        parts = [
            part for operation in script.operations if _DIVISION in operation.operator for part in operation.walk()
        ]
        parts += [given.value for call in script.calls if last_name(call) in _SCALE for given in call.arguments]
        return any(self._is_count(part, found) for part in parts)

    def forwards(self, found: Accumulation) -> Iterator[Call]:
        """Yield the forward passes through DistributedDataParallel that the loss comes from."""
        loss = self.loss(found)
        for piece, frame in self._pieces(loss) if loss is not None else ():
            if isinstance(piece, Call) and self._project.collectives.own(piece, frame) == FORWARD:
                yield piece

    def clears(self, found: Accumulation) -> Iterator[Act]:
        """Yield the calls that clear the gathered gradients in every round, whether a step was taken or not."""
        acts, backward = self._project.acts, found.backward
        mine = [self._project.optimizer_steps.optimizer(found.step.call)]
        mine += [forward.callee for forward in self.forwards(found)]
        place = backward.place
        for act in acts.of(place.scope.function, place.scope.script):
            callee = act.call.callee
            if not isinstance(callee, Attribute) or callee.name != "zero_grad" or act.place is found.step.place:
                continue
            always = act.loops == backward.loops and act.runs_whenever(backward)
            if always and any(acts.same(callee.base, one) for one in mine):
                yield act

    def holds_back(self, script: Script) -> bool:
        """Whether the program of a script ever keeps DistributedDataParallel from exchanging gradients."""
        words = ("no_sync", "require_backward_grad_sync")
        for path in self._project.program_of(script):
            if not any(word.encode() in self._project.files.content(path) for word in words):
                continue
            other = self._project.script(path)
            if other is None or any(read.name in words for read in other.attributes):
                return True
            if any(word in other.attribute_stores for word in words):
                return True
        return False

    def _pieces(self, loss: Expression) -> Iterator[Piece]:
        """Yield what a loss is made of: first all that its own function shows, then what lies further away."""
        near = list(_near(loss))
        yield from ((piece, None) for piece in near)
        seen = set(map(id, near))
        yield from (far for far in self._project.dependence.pieces(loss) if id(far[0]) not in seen)

    def _is_count(self, piece: Expression, found: Accumulation) -> bool:
        if isinstance(found.count, Constant):
            return isinstance(piece, Operation) and any(
                isinstance(part, Constant) and part.value == found.count.value for part in piece.operands
            )
        return isinstance(piece, (Name, Attribute)) and last_name(piece) == last_name(found.count)

    def _led_to(self, step: Act, backwards: list[Act]) -> Iterator[Accumulation]:
        chain = list(step.chain())
        due = next(((place, count) for place, region in enumerate(chain) if (count := _count(region))), None)
        if due is None:
            return
        place, within = due
        region, count = chain[place], self._project.acts.outside(step, within)
        loops = [outer.loop for outer in chain[place:] if outer.loop is not None]
        if self._project.constants(count) == frozenset({1}) or not loops or tuple(loops) != step.loops:
            return
        beside = [act for act in backwards if act.loops[:1] == step.loops[:1]]
        if any(region in act.chain() for act in beside):
            return
        before = [act for act in beside if act.order < step.order and not act.excludes(step)]
        if before and before[-1].place is not step.place:
            yield Accumulation(loops[0], before[-1], step, count, region)


def _near(loss: Expression) -> Iterator[Expression]:
    """Yield the expressions of its own function that a value is made from, whatever the calls do with them."""
    seen: set[int] = set()
    pending = [loss]
    while pending:
        piece = pending.pop()
        if id(piece) in seen or piece.scope.function is not loss.scope.function:
            continue
        seen.add(id(piece))
        yield piece
        pending.extend(piece.children)
        if isinstance(piece, Name):
            pending.extend(found.value for found in reaching(piece.id, piece) or () if found.value is not None)


def _divides(piece: Expression) -> bool:
    """Whether an expression divides by something that is not written down as a number."""
    if isinstance(piece, Operation):
        return _DIVISION in piece.operator and not isinstance(piece.operands[-1], Constant)
    return isinstance(piece, Call) and last_name(piece) in _SCALE


def _is_sum(piece: Expression) -> bool:
    """Whether an expression asks for a sum, whose size says how many samples there were."""
    return (isinstance(piece, Constant) and piece.value == "sum") or (
        isinstance(piece, Call) and last_name(piece) == "sum"
    )


def _count(region: Region) -> Expression | None:
    """Return how many rounds pass between two runs of a region, None where no remainder decides it."""
    if region.kind is not RegionKind.BRANCH or region.test is None:
        return None
    return _counted(region.test, region.holds)


def _counted(test: Expression, holds: bool) -> Expression | None:
    """Return the count of a test that holds in one round of several: its remainder is 0, or the last one."""
    if isinstance(test, Not):
        return _counted(test.operand, not holds)
    if isinstance(test, Logic):
        return next((count for part in test.operands if (count := _counted(part, holds)) is not None), None)
    for part in test.children[:1] if not isinstance(test, Operation) else (test,):
        if isinstance(part, Operation) and part.operator == "%" and len(part.operands) == 2:
            rare = _is_rare(test, holds)
            return part.operands[1] if rare and _may_count(part.operands[1]) else None
    return None


def _is_rare(test: Expression, holds: bool) -> bool:
    """Whether a test of a remainder lets one round of several through, rather than all but one."""
    if isinstance(test, Operation):
        return not holds
    if not isinstance(test, Comparison) or len(test.comparisons) != 1:
        return False
    operator = test.comparisons[0][0]
    return (operator == "==") is holds if operator in ("==", "!=") else operator == ">" and not holds


def _may_count(count: Expression) -> bool:
    return isinstance(count, (Name, Attribute)) or (isinstance(count, Constant) and type(count.value) is int)
