"""What methods and functions of torch make of samples: samples again, a mean or a sum over them, or something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ddplint.migration.ddp.value import COUNT, MEAN, OWN, SAME, SIZE, SUM, Share, Value, samples
from ddplint.semantics import Constant, Expression, Operation


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods and functions that look at each sample by itself.
_SAMPLEWISE = _words(
    "abs add add_ bool byte clamp clamp_ clone contiguous cos cuda data detach detach_ div div_ double eq exp "
    "expm1 float floor float_power ge gt half int le leaky_relu log log1p logical_and logical_not logical_or "
    "long lt masked_fill mul mul_ ne neg ones_like pow relu requires_grad_ round sigmoid sign sin softplus "
    "sqrt sub sub_ tanh tan to type type_as where zeros_like cpu gelu silu elu numpy Variable"
)
_MOVES = frozenset({"to", "cuda"})
# Those that take a dimension, which must not be that of the samples.
_ALONG = _words(
    "softmax log_softmax argmax argmin cumsum flip gather index_select norm normalize prod scatter scatter_ "
    "std var unsqueeze logsumexp any all flatten"
)
# Nobody asks these for the last dimension of a tensor that has one only: it holds the classes.
_OF_CLASSES = frozenset({"softmax", "log_softmax", "argmax"})
_PAIRS = frozenset({"max", "min", "topk", "sort", "median", "kthvalue"})
_WHOLE_BATCH = frozenset({"sum", "mean"})
# Functions of torch.nn.functional and torch that keep the samples apart, whatever else they are given.
_LAYERS = _words(
    "interpolate upsample pad one_hot dropout avg_pool2d max_pool2d adaptive_avg_pool2d conv2d linear layer_norm"
)


@dataclass(frozen=True, slots=True)
class Given:
    """One argument: its expression, its value, and its keyword."""

    expression: Expression
    value: Value
    keyword: str | None


def method(name: str, base: Value, given: Sequence[Given]) -> Value:
    """Return what a method makes of a tensor that is not settled; OWN where that is not known."""
    if base.share in (Share.MEAN, Share.SUM):
        return _of_scalar(name, base)
    if base.share is Share.BATCH and not base.items:
        return _of_samples(name, base, given)
    return OWN


def function(name: str, given: Sequence[Given]) -> Value:
    """Return what a function of torch makes of tensors, by its last name: as the method of the same name does."""
    if not given:
        return SAME
    first, *rest = given
    if name in ("cat", "concat", "stack") and first.value.items:
        together = all(item.share is Share.BATCH and not item.items for item in first.value.items)
        return samples(first.value.items) if together and _dimension(rest, 0) else OWN
    if first.value.share is Share.SAME and name in ("where", "eq", "mul", "add", "sub", "div"):
        return samples([each.value for each in given]) if _all_samples(given) else OWN
    return method(name, first.value, rest)


def _of_scalar(name: str, base: Value) -> Value:
    if name in ("item", "tolist"):
        return SAME
    if name in ("detach", "clone", "cpu", "cuda", "to", "float", "double", "data", "mean", "sum", "squeeze", "view"):
        return base
    return OWN


def _of_samples(name: str, base: Value, given: Sequence[Given]) -> Value:
    for known, make in _MAKERS:
        if name in known:
            return make(name, base, given)
    return OWN


def _keep(name: str, base: Value, given: Sequence[Given]) -> Value:
    if not _all_samples(given):
        return OWN
    made = samples([base, *(each.value for each in given)])
    if name == "cpu":
        return Value(Share.BATCH)
    return made.at_device() if name in _MOVES and _names_device(name, given) else made


def _names_device(name: str, given: Sequence[Given]) -> bool:
    if name == "cuda":
        return True
    words = [each.expression.value for each in given if isinstance(each.expression, Constant)]
    return "cpu" not in words and bool(given)


def _all_samples(given: Sequence[Given]) -> bool:
    """Whether arguments are as long as the samples, or the same for all of them."""
    return all(each.value.share in (Share.SAME, Share.BATCH) for each in given)


def _along(name: str, base: Value, given: Sequence[Given]) -> Value:
    if name == "scatter" or name.endswith("_"):
        return _keep(name, base, given) if _dimension(given[:1], 0) else OWN
    of_classes = name in _OF_CLASSES and _is_last(given)
    return _keep(name, base, given) if of_classes or _dimension(given, 0) else OWN


def _pair(name: str, base: Value, given: Sequence[Given]) -> Value:
    if name in ("max", "min") and given and given[0].value.share is Share.BATCH:
        return samples([base, given[0].value])
    place = 1 if name in ("topk", "kthvalue") else 0
    part = Value(Share.BATCH, moved=base.moved)
    return Value(Share.BATCH, (part, part), moved=base.moved) if _dimension(given, place) else OWN


def _whole(name: str, base: Value, given: Sequence[Given]) -> Value:
    given = [each for each in given if each.keyword not in ("dtype", "keepdim")]
    if not given:
        return MEAN if name == "mean" else SUM
    return _keep(name, base, given) if _dimension(given, 0) else OWN


def _size(_name: str, _base: Value, given: Sequence[Given]) -> Value:
    if not given:
        return SIZE
    index = given[0].expression
    return SIZE.item(index.value if isinstance(index, Constant) and isinstance(index.value, int) else None)


def _number(_name: str, _base: Value, _given: Sequence[Given]) -> Value:
    return COUNT


def _plain(_name: str, _base: Value, _given: Sequence[Given]) -> Value:
    return SAME


def _shaped(_name: str, base: Value, given: Sequence[Given]) -> Value:
    """A view whose first dimension is still that of the samples."""
    first = given[0] if given else None
    if first is not None and first.value.items:
        return base if first.value.items[0].share is Share.COUNT else OWN
    return base if first is not None and first.value.share is Share.COUNT else OWN


def _permuted(name: str, base: Value, given: Sequence[Given]) -> Value:
    numbers = [number(each.expression) for each in given]
    if name == "permute":
        return base if numbers[:1] == [0] else OWN
    return base if numbers and all(each is not None and each >= 1 for each in numbers) else OWN


def _squeezed(_name: str, base: Value, given: Sequence[Given]) -> Value:
    return base if not given or _dimension(given, 0) else OWN


_Maker = Callable[[str, Value, Sequence[Given]], Value]
_MAKERS: tuple[tuple[frozenset[str], _Maker], ...] = (
    (_SAMPLEWISE | _LAYERS, _keep),
    (_ALONG, _along),
    (_PAIRS, _pair),
    (_WHOLE_BATCH, _whole),
    (frozenset({"size"}), _size),
    (frozenset({"numel", "nelement"}), _number),
    (frozenset({"dim", "ndimension", "is_contiguous"}), _plain),
    (frozenset({"view", "reshape"}), _shaped),
    (frozenset({"permute", "transpose"}), _permuted),
    (frozenset({"squeeze"}), _squeezed),
)


def _dimension(given: Sequence[Given], place: int) -> bool:
    """Whether the dimension among some arguments, at a place or by keyword, is certainly not that of the samples."""
    named = [each for each in given if each.keyword in ("dim", "axis", "start_dim")]
    unnamed = [each for each in given if each.keyword is None]
    chosen = named or unnamed[place : place + 1]
    value = number(chosen[0].expression) if chosen else None
    return value is not None and value > 0


def _is_last(given: Sequence[Given]) -> bool:
    chosen = [each for each in given if each.keyword in ("dim", "axis")] or [*given[:1]]
    return bool(chosen) and number(chosen[0].expression) == -1


def number(expression: Expression) -> int | None:
    """Return the whole number that is written, also a negative one."""
    if isinstance(expression, Operation) and expression.operator == "-" and len(expression.operands) == 1:
        inner = number(expression.operands[0])
        return None if inner is None else -inner
    value = expression.value if isinstance(expression, Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
