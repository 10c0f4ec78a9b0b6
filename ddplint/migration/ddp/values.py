"""What the expressions of a script are on one process, when every process trains on its own share of each batch.

Numbers that are made of tensors over the process's samples are brought together where they are made: whatever is
computed with them after is then the same everywhere, as it was in the one process that had the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.migration.ddp import torch_values
from ddplint.migration.ddp.idioms import accuracies
from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.losses import Losses
from ddplint.migration.ddp.torch_values import Given
from ddplint.migration.ddp.value import (
    COUNT,
    HANDED_OUT,
    MEAN,
    MEASURED,
    MODEL,
    MODULE,
    OWN,
    SAME,
    SIZE,
    SUM,
    Frame,
    Share,
    Value,
    joined,
    samples,
)
from ddplint.semantics import (
    Assigned,
    Attribute,
    Call,
    Comparison,
    Conditional,
    Constant,
    Expression,
    FormattedText,
    Logic,
    Name,
    Not,
    Operation,
    Sequence,
    Subscript,
)
from ddplint.semantics.expressions import Slice
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Function, Loop

_TORCH = ("torch.nn.functional.", "torch.autograd.", "torch.")
_PLAIN = frozenset(
    f"builtins.{name}" for name in ("abs", "bool", "float", "format", "int", "max", "min", "repr", "round", "str")
) | {"torch.isnan", "torch.isfinite", "torch.isinf", "numpy.isnan", "numpy.isfinite"}
_NUMBERS = frozenset({"builtins.float", "builtins.int"})
_CHANCE = ("random.", "numpy.random.", "time.", "datetime.", "torch.rand", "torch.normal", "torch.bernoulli")
# Questions that wait for each other's answers.
_MOST_OPEN = 400
# What an enumerating loop gives the names at the first two places.
_COUNTED: dict[tuple[int | None, ...], Value] = {(0,): SAME, (1,): HANDED_OUT}


@dataclass(frozen=True, slots=True)
class Known:
    """What the migration knows before it looks at values: the wraps, and the loop over the training data.

    ``counts``: the loop enumerates its batches. ``means`` are the bindings of losses that are taken for means over
    the batch, by their identities.
    """

    wraps: tuple[Call, ...]
    loop: Loop
    counts: bool
    means: frozenset[int] = frozenset()


class Values:
    """Answers what expressions are worth, and keeps which of them have to be brought together."""

    def __init__(self, job: Job, known: Known) -> None:
        self._job = job
        self._project = job.project
        self._known = known
        self._losses = Losses(job.project, job.note)
        self._values: dict[tuple[int, Frame], Value] = {}
        self._open: set[tuple[int, Frame]] = set()
        self._unfinished: set[tuple[int, Frame]] = set()
        self.settled: set[int] = set()
        self.entered: dict[Frame, None] = {}
        self.reduced: dict[int, tuple[Expression, Share, Frame]] = {}
        self.old_items: dict[int, Subscript] = {}  # numbers have no items since torch 0.5
        self.forwards: dict[int, tuple[Call, Frame]] = {}

    def of(self, expression: Expression, frame: Frame) -> Value:
        """Return what an expression is worth where its function is run as the frame says."""
        key = (id(expression), frame)
        if key in self._values:
            return self._values[key]
        if key in self._open:
            self._unfinished.add(key)
            return SAME  # a value that is made from itself: what else it is made of decides
        self._open.add(key)
        try:
            value = self._of(expression, frame)
        finally:
            self._open.discard(key)
            self._unfinished.discard(key)
        if not self._unfinished:
            self._values[key] = value
        return value

    def reduce(self, expression: Expression, share: Share, frame: Frame) -> None:
        """Have a tensor or a count brought together over the processes where it is written."""
        self.reduced[id(expression)] = (expression, share, frame)

    def _of(self, expression: Expression, frame: Frame) -> Value:
        if isinstance(expression, Name):
            return self._of_name(expression, frame)
        if isinstance(expression, Attribute):
            return self._of_attribute(expression, frame)
        if isinstance(expression, Call):
            return self._of_call(expression, frame)
        if isinstance(expression, Subscript):
            return self._of_item(expression, frame)
        if isinstance(expression, Operation):
            return self._of_operation(expression, frame)
        if isinstance(expression, Sequence):
            return self._display(tuple(self.of(item, frame) for item in expression.items))
        if isinstance(expression, Conditional):
            if not self.of(expression.test, frame).is_settled:
                return OWN
            return joined((self.of(expression.then, frame), self.of(expression.otherwise, frame)))
        if isinstance(expression, Assigned):
            return self.of(expression.value, frame)
        if isinstance(expression, Comparison):
            return self._of_comparison(expression, frame)
        return self._of_parts(expression, frame)

    @staticmethod
    def _display(items: tuple[Value, ...]) -> Value:
        if all(item == SAME for item in items):
            return SAME
        shares = {item.share for item in items}
        return Value(shares.pop() if len(shares) == 1 else Share.OWN, items)

    def _of_parts(self, expression: Expression, frame: Frame) -> Value:
        """Of what no rule is known: settled when all its parts are."""
        parts = [self.of(child, frame) for child in expression.children]
        if not all(part.is_settled for part in parts):
            return OWN
        measured = any(part.share is Share.MEASURED for part in parts)
        return MEASURED if measured else SAME

    # Values that leave the step: printed, added up, tested.

    def unsettled(self, expression: Expression, frame: Frame) -> Expression | None:
        """Return the part that can't be brought together over the processes, None when all can."""
        return self._settle(expression, frame, try_only=True)

    def settle(self, expression: Expression, frame: Frame) -> Expression | None:
        """Have the tensors and counts in an expression brought together; return a part for which that can't be done."""
        return self._settle(expression, frame, try_only=False)

    def _settle(self, expression: Expression, frame: Frame, *, try_only: bool) -> Expression | None:
        value = self.of(expression, frame)
        if value.is_settled:
            return None
        if isinstance(expression, Name) and self._settle_where_made(expression, value, frame, try_only):
            return None
        if value.share in (Share.MEAN, Share.SUM, Share.COUNT) and not value.items:
            if not try_only:
                self.reduce(expression, value.share, frame)
            return None
        parts = list(self._parts(expression))
        if not parts:
            return expression
        failures = (self._settle(part, frame, try_only=try_only) for part in parts)
        return next((failure for failure in failures if failure is not None), None)

    def _parts(self, expression: Expression) -> Iterator[Expression]:
        """Yield what a number or a text is made from, if it is one."""
        if isinstance(expression, Operation | FormattedText | Sequence | Logic | Not | Comparison):
            yield from expression.children
        elif isinstance(expression, Call):
            names = self._project.names(expression.callee)
            is_text = isinstance(expression.callee, Attribute) and expression.callee.name in ("format", "join")
            if is_text or all(name in _PLAIN or name.startswith("math.") for name in names):
                yield from (argument.value for argument in expression.arguments)

    def _settle_where_made(self, name: Name, value: Value, frame: Frame, try_only: bool) -> bool:
        """Bring a value together where its name is given to it, if it has nothing to do with the gradient."""
        bindings = reaching(name.id, name) or []
        binding = bindings[0] if len(bindings) == 1 else None
        if binding is None or binding.value is None or binding.path or binding.kind is not BindingKind.ASSIGNMENT:
            return False
        home = binding.region.scope is name.scope and value.share in (Share.MEAN, Share.SUM, Share.OWN)
        if not home or self.leads_to_gradient(binding):
            return False
        if self._settle(binding.value, frame, try_only=True) is not None:
            return False
        if not try_only:
            self._settle(binding.value, frame, try_only=False)
            self.settled.add(id(binding))
        return True

    # Names.

    def _of_name(self, name: Name, frame: Frame) -> Value:
        bindings = reaching(name.id, name)
        if not bindings:
            return SAME
        return joined(self._of_binding(binding, frame) for binding in bindings)

    def _of_binding(self, binding: Binding, frame: Frame) -> Value:
        inside = self._frame_of(binding, frame)
        if binding.kind is BindingKind.PARAMETER:
            return inside.parameter(binding.name)
        if id(binding) in self._known.means:
            return MEAN
        if binding.value is None:
            return SAME
        if binding.kind is BindingKind.LOOP:
            return self._handed_out(binding, inside)
        value = self.of(binding.value, inside)
        if id(binding) in self.settled or id(binding.value) in self.reduced:
            return SAME
        if binding.kind is BindingKind.AUGMENTED and self._is_collected(binding, inside):
            return SAME
        for index in binding.path:
            value = value.item(index)
        return value

    def _frame_of(self, binding: Binding, frame: Frame) -> Frame:
        function = binding.region.scope.function
        if function is frame.function:
            return frame
        if function is None:
            return MODULE
        return next((known for known in self.entered if known.function is function), Frame(function))

    def _handed_out(self, binding: Binding, frame: Frame) -> Value:
        """What a loop gives its names."""
        assert binding.value is not None
        loop = next((loop for loop in binding.region.loops if loop.iterable is binding.value), None)
        if loop is self._known.loop:
            if self._known.counts:
                return _COUNTED.get(binding.path[:1], OWN)
            return HANDED_OUT
        value = self.of(binding.value, frame)
        if value.items:
            value = joined(value.items)
            for index in binding.path:
                value = value.item(index)
            return value
        return value if value.is_settled else OWN

    def _is_collected(self, binding: Binding, frame: Frame) -> bool:
        """Whether ``total += part`` adds up what is brought together before (see Walk)."""
        value = binding.value
        if not isinstance(value, Operation) or self.leads_to_gradient(binding):
            return False
        return self.unsettled(value.operands[1], frame) is None

    def leads_to_gradient(self, binding: Binding) -> bool:
        """Whether a name is one that backward is called on, or a part of that."""
        function = binding.region.scope.function
        return binding.name in self._gradient_names(function, binding)

    def _gradient_names(self, function: Function | None, binding: Binding) -> frozenset[str]:
        script = binding.region.scope.script
        found: set[str] = set()
        exprs: list[Expression] = [
            call.callee
            for call in script.calls_in(function)
            if isinstance(call.callee, Attribute) and call.callee.name == "backward"
        ]
        scope = binding.region.scope
        while exprs:
            for part in exprs.pop().walk():
                if isinstance(part, Name) and part.id not in found:
                    found.add(part.id)
                    exprs += [bound.value for bound in scope.bindings.get(part.id, ()) if bound.value is not None]
        return frozenset(found)

    # Parts of objects.

    def _of_attribute(self, expression: Attribute, frame: Frame) -> Value:
        base = self.of(expression.base, frame)
        if base.share is Share.MODEL:
            return MODEL if expression.name == "module" else SAME
        if base.is_settled:
            return SAME if base.share is Share.SAME else MEASURED
        if expression.name == "data":
            return base
        if expression.name in ("device", "dtype", "is_cuda", "requires_grad"):
            return SAME
        if expression.name == "shape" and base.share is Share.BATCH and not base.items:
            return SIZE
        return OWN

    def _of_item(self, expression: Subscript, frame: Frame) -> Value:
        base, index = self.of(expression.base, frame), expression.index
        if base.share is Share.MODEL:
            return OWN
        if base.is_settled and not base.items:
            return self._of_parts(expression, frame)
        number = torch_values.number(index)
        if base.items or base.share is Share.SIZE:
            return base.item(number)
        if base.share is Share.MEAN and number == 0:
            if not base.whole:
                self.old_items[id(expression)] = expression
            return MEAN
        if base.share is not Share.BATCH:
            return OWN
        if base.whole and (number is not None or (isinstance(index, Constant) and isinstance(index.value, str))):
            return base
        return self._cut(base, index, frame)

    def _cut(self, base: Value, index: Expression, frame: Frame) -> Value:
        """``x[:, 1:]`` keeps all samples; anything else picks some, or mixes them."""
        columns = index.items if isinstance(index, Sequence) else ()
        first = columns[0] if columns else index
        everything = isinstance(first, Slice) and not first.children
        rest = [self.of(column, frame) for column in columns[1:]]
        return samples([base]) if everything and all(value.share is Share.SAME for value in rest) else OWN

    # Operators.

    def _of_comparison(self, expression: Comparison, frame: Frame) -> Value:
        if all(operator in ("is", "is not") for operator, _ in expression.comparisons):
            return SAME
        parts = [self.of(child, frame) for child in expression.children]
        if any(part.share is Share.BATCH for part in parts) and _are_samples(parts):
            return samples(parts)
        return self._of_parts(expression, frame)

    def _of_operation(self, expression: Operation, frame: Frame) -> Value:
        parts = [self.of(operand, frame) for operand in expression.operands]
        if any(part.share is Share.BATCH for part in parts):
            measured = [part for part in parts if part.share is Share.MEASURED]
            if measured:
                self._job.note(expression, "each process draws this anew for its own share of the batch")
            others = [part for part in parts if part.share is not Share.MEASURED]
            return samples(others) if _are_samples(others) and expression.operator != "@" else OWN
        if len(parts) == 1:
            return (
                parts[0]
                if expression.operator in ("-", "+") and not parts[0].items
                else self._of_parts(expression, frame)
            )
        if all(part.is_settled for part in parts):
            return self._of_parts(expression, frame)
        left, right = parts
        return self._combined(expression, left, right)

    def _combined(self, expression: Operation, left: Value, right: Value) -> Value:
        """Means and sums among each other, and with what is the same everywhere."""
        shares, operator = {left.share, right.share}, expression.operator
        if Share.MEASURED in shares and shares <= {Share.MEASURED, Share.MEAN, Share.SUM}:
            self._job.note(expression, "each process draws this anew for its own share of the batch")
            shares = (shares - {Share.MEASURED}) | {Share.SAME}
        linear = operator in ("+", "-") or operator == "*" or (operator == "/" and right.is_settled)
        if shares <= {Share.MEAN, Share.SAME} and linear:
            return MEAN if operator != "*" or Share.SAME in shares else OWN
        if shares == {Share.SUM} and operator in ("+", "-"):
            return SUM
        if shares == {Share.SUM, Share.SAME}:
            scaled = operator == "*" or (operator == "/" and right.is_settled)
            return SUM if scaled or _adds_nothing(expression) else OWN
        if shares == {Share.MEAN, Share.COUNT} and operator == "*":
            return SUM
        if left.share is Share.SUM and right.share is Share.COUNT and operator == "/":
            return MEAN
        return OWN

    # Calls.

    def _of_call(self, call: Call, frame: Frame) -> Value:
        if any(call is wrap for wrap in self._known.wraps):
            return MODEL
        names = self._project.names(call.callee)
        given = list(self._given(call, frame))
        if any(name.startswith(_CHANCE) for name in names):
            return MEASURED
        if names <= {"builtins.map"} and len(given) > 1 and given[1].value.items:
            return given[1].value
        for answer in (self._forward, self._loss, self._of_function, self._of_builtin, self._of_torch, self._of_method):
            value = answer(call, given, frame)
            if value is not None:
                return value
        return self._of_parts(call, frame)

    def _given(self, call: Call, frame: Frame) -> Iterator[Given]:
        for argument in call.arguments:
            yield Given(argument.value, self.of(argument.value, frame), argument.keyword)

    def _forward(self, call: Call, given: list[Given], frame: Frame) -> Value | None:
        """A forward of the wrapped model; what it hands out belongs to the samples, as DataParallel needs it to."""
        if self.of(call.callee, frame).share is not Share.MODEL:
            return None
        if all(each.value.is_settled for each in given):
            return MEASURED
        self.forwards[id(call)] = (call, frame)
        fed = [each.value for each in given if not each.value.is_settled]
        if not all(value.share is Share.BATCH for value in fed):
            return OWN
        return Value(Share.BATCH, whole=True, moved=all(value.moved for value in fed))

    def _loss(self, call: Call, given: list[Given], _: Frame) -> Value | None:
        if self._losses.is_function(call):
            return self._losses.of(call, [each.value for each in given[:2]])
        makers = [self._losses.module(origin) if isinstance(origin, Call) else None for origin in self._made(call)]
        if not makers or None in makers:
            return None
        return joined(self._losses.of(maker, [each.value for each in given]) for maker in makers if maker is not None)

    def _made(self, call: Call) -> tuple[object, ...]:
        return self._project.origins(call.callee)

    def _of_function(self, call: Call, _: list[Given], frame: Frame) -> Value | None:
        """A function of the project, or the forward of one of its modules, looked into with what it is given."""
        function = self._project.resolver.function_of(call)
        if function is None:
            cls = self._project.resolver.class_of(call.callee)
            function = None if cls is None else self._project.resolver.method(cls, "forward")
        if function is None:
            return None
        bound = self._project.resolver.bound(call, function)
        worth = tuple((name, self.of(value, frame)) for name, value in sorted(bound.items()))
        inside = Frame(function, tuple((name, value) for name, value in worth if value != SAME))
        own_file = function.script is self._job.script
        if not own_file and all(value.is_settled for _, value in inside.given):
            return MEASURED if inside.given else SAME
        if function.name == "__init__" or function.yields or any(argument.star for argument in call.arguments):
            return OWN if inside.given and not all(value.is_settled for _, value in inside.given) else SAME
        unsettled = not all(value.is_settled for _, value in inside.given)
        known = accuracies(self._project, call, function) if unsettled else None
        if known is not None:
            samplewise = all(value.is_settled or value.share is Share.BATCH for _, value in inside.given)
            return known if samplewise else OWN
        if len(self._open) > _MOST_OPEN or (unsettled and _keeps_its_own(function)):
            return OWN
        self.entered.setdefault(inside)
        returned = [self.of(value, inside) for value in function.returns]
        return joined(returned) if returned else SAME

    def _of_builtin(self, call: Call, given: list[Given], frame: Frame) -> Value | None:
        names = self._project.names(call.callee)
        first = given[0] if given else None
        if first is None or first.value.is_settled:
            return None
        if names <= {"builtins.len"}:
            return COUNT if first.value.share is Share.BATCH and not first.value.whole else OWN
        if names <= _NUMBERS and first.value.is_tensor_over_ranks:
            self.reduce(first.expression, first.value.share, frame)
            return SAME
        if names <= {"builtins.list", "builtins.tuple"} and first.value.items:
            return first.value
        return OWN if all(name.startswith("builtins.") for name in names) else None

    def _of_torch(self, call: Call, given: list[Given], _: Frame) -> Value | None:
        names = self._project.names(call.callee)
        if not all(name.startswith(_TORCH) for name in names) or all(each.value.is_settled for each in given):
            return None
        return joined(torch_values.function(name.rpartition(".")[2], given) for name in sorted(names))

    def _of_method(self, call: Call, given: list[Given], frame: Frame) -> Value | None:
        if not isinstance(call.callee, Attribute):
            return None
        base = self.of(call.callee.base, frame)
        if base.share is Share.MODEL:
            return MODEL if call.callee.name in ("cuda", "to", "train", "eval", "double", "float") else SAME
        if base.is_settled:
            return None
        if call.callee.name in ("item", "tolist") and base.is_tensor_over_ranks:
            self.reduce(call.callee.base, base.share, frame)
            return SAME
        return torch_values.method(call.callee.name, base, given)


def _keeps_its_own(function: Function) -> bool:
    """Whether a function is a method of an object such as a meter: what it is given is brought together before."""
    return function.cls is not None and function.name != "forward"


def _are_samples(parts: list[Value]) -> bool:
    return all(part.share in (Share.BATCH, Share.SAME) and not part.items for part in parts)


def _adds_nothing(expression: Operation) -> bool:
    """Whether a sum starts at a zero that is written out."""
    zeros = [part for part in expression.operands if isinstance(part, Constant) and part.value in (0, 0.0)]
    return expression.operator == "+" and bool(zeros)
