"""Functions that nearly every script has, told by what they do, not by their names."""

from __future__ import annotations

from ddplint.migration.ddp.value import Share, Value
from ddplint.project import Project
from ddplint.semantics import Attribute, Call, Constant, Name, Operation, Sequence
from ddplint.semantics.expressions import Expression
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Function

# What the share of samples among whose best guesses is the right one is computed with.
_STEPS = frozenset({"topk", "eq", "sum"})
_PERCENT = (100, 100.0)


def accuracies(project: Project, call: Call, function: Function) -> Value | None:
    """Return the values of a function that gives a percentage of the samples for each ``k``, None for any other.

    Each is a tensor with one element, a mean over the samples.
    """
    calls = [inner.callee for inner in function.script.calls_in(function)]
    methods = {callee.name for callee in calls if isinstance(callee, Attribute)}
    if not methods >= _STEPS or not any(_is_share(part, function) for part in function.script.operations):
        return None
    chosen = _best(project, call, function)
    part = Value(Share.MEAN, whole=True)
    return Value(Share.MEAN, (part,) * len(chosen.items)) if isinstance(chosen, Sequence) else None


def _best(project: Project, call: Call, function: Function) -> Expression | None:
    given = project.resolver.bound(call, function).get("topk")
    default = next((one.default for one in function.parameters if one.name == "topk"), None)
    return default if given is None else given


def _is_share(part: Operation, function: Function) -> bool:
    """Whether an operation divides a hundred by the number of samples."""
    if part.scope.function is not function or part.operator != "/" or len(part.operands) != 2:
        return False
    hundred, count = part.operands
    if not isinstance(hundred, Constant) or hundred.value not in _PERCENT:
        return False
    values = [binding.value for binding in reaching(count.id, count) or ()] if isinstance(count, Name) else [count]
    return bool(values) and all(_is_count(value) for value in values)


def _is_count(value: Expression | None) -> bool:
    if not isinstance(value, Call) or not isinstance(value.callee, Attribute) or value.callee.name != "size":
        return False
    index = value.arguments[0].value if value.arguments else None
    return isinstance(index, Constant) and index.value == 0
