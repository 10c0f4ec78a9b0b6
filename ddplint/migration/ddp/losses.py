"""Losses of torch: whether they are a mean over the samples, so that the mean over the processes is the same."""

from __future__ import annotations

from collections.abc import Callable

from ddplint.migration.ddp.value import MEAN, OWN, SUM, Share, Value
from ddplint.project import Project
from ddplint.semantics import Call, Constant, Expression

_MODULES = frozenset(
    f"torch.nn.{name}"
    for name in (
        "BCELoss",
        "BCEWithLogitsLoss",
        "CrossEntropyLoss",
        "HuberLoss",
        "KLDivLoss",
        "L1Loss",
        "MSELoss",
        "NLLLoss",
        "SmoothL1Loss",
        "SoftMarginLoss",
    )
)
_FUNCTIONS = frozenset(
    f"torch.nn.functional.{name}"
    for name in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "cross_entropy",
        "huber_loss",
        "kl_div",
        "l1_loss",
        "mse_loss",
        "nll_loss",
        "smooth_l1_loss",
        "soft_margin_loss",
    )
)
# These divide by the sum of the weights, or by the number of samples that are not ignored.
_OF_CLASSES = ("CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss")
_UNEVEN = {
    "weight": "the loss weights its classes, so that the mean over the processes differs a little from the mean over "
    "the whole batch",
    "ignore_index": "the loss ignores some targets, so that the mean over the processes differs a little from the mean "
    "over the whole batch",
}

_AVERAGED: dict[object, Value] = {True: MEAN, False: SUM}
_REDUCTIONS: dict[object, Value] = {"mean": MEAN, "batchmean": MEAN, "sum": SUM, "none": Value(Share.BATCH)}


class Losses:
    """Knows the losses of a project. ``note`` takes what is not quite the mean over the batch."""

    def __init__(self, project: Project, note: Callable[[Expression, str], None]) -> None:
        self._project = project
        self._note = note

    def module(self, made: Expression) -> Call | None:
        """Return the call that makes a loss of torch, also where it was moved after; None for anything else."""
        while isinstance(made, Call):
            if self._project.names(made.callee) <= _MODULES:
                return made
            base = getattr(made.callee, "base", None)
            if getattr(made.callee, "name", "") not in ("cuda", "to", "double", "float") or base is None:
                return None
            made = base
        return None

    def is_function(self, call: Call) -> bool:
        """Whether a call certainly computes one of torch's losses."""
        return self._project.names(call.callee) <= _FUNCTIONS

    def of(self, settings: Call, given: list[Value]) -> Value:
        """Return the loss of some values; ``settings`` is the call that says how it is reduced."""
        if given and all(value.is_settled for value in given):
            return Value(Share.MEASURED)
        if not given or not all(value.share in (Share.BATCH, Share.SAME) and not value.items for value in given):
            return OWN
        if any(argument.star for argument in settings.arguments):
            return OWN
        places = sum(1 for argument in settings.arguments if argument.keyword is None)
        name = next(iter(self._project.names(settings.callee)))
        of_classes = name.endswith(_OF_CLASSES)
        if places > (2 if self.is_function(settings) else int(of_classes)):
            return OWN  # old signatures have size_average there
        if of_classes:
            self._look_at_weights(settings)
        return self._reduced(settings)

    def _look_at_weights(self, settings: Call) -> None:
        for argument in settings.arguments:
            place = "weight" if argument.keyword is None and not self.is_function(settings) else argument.keyword
            if place in _UNEVEN:
                self._note(argument.value, _UNEVEN[place])

    def _reduced(self, settings: Call) -> Value:
        given = {argument.keyword: argument.value for argument in settings.arguments}
        if "reduce" in given:
            return OWN
        if "size_average" in given:
            return _AVERAGED.get(_constant(given["size_average"]), OWN)
        if "reduction" not in given:
            return MEAN
        return _REDUCTIONS.get(_constant(given["reduction"]), OWN)


def _constant(expression: Expression) -> object:
    return expression.value if isinstance(expression, Constant) else None
