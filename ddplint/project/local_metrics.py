"""Numbers measured on one rank's share of the evaluation data, and used as if they were those of all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.project.collectives import COLLECTIVES
from ddplint.project.guards import RankSet
from ddplint.project.locality import Divergence
from ddplint.semantics import Attribute, Call, Comparison, Expression, Name, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import LoopKind
from ddplint.semantics.tested import asked_for_truth

if TYPE_CHECKING:
    from ddplint.project.project import Project

_ORDERS = frozenset({"<", ">", "<=", ">="})
_BEST = re.compile(r"(?:\w*_)?(?:best|min|max|lowest|highest|top)(?:_\w*)?", re.IGNORECASE)
_PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
# Lines and records of what was measured.
_SAYS = frozenset({"print", "info", "log", "add_scalar", "add_scalars", "write", "log_metric", "log_metrics"})
# Metrics of these packages are exchanged by themselves.
_EXCHANGED = ("torchmetrics.", "ignite.", "accelerate.", "evaluate.")


class MetricUse(Enum):
    """What is done with a number."""

    COMPARED = "it decides which model is the best"
    SCHEDULES = "it decides on the learning rate"
    SAID = "it is printed, or recorded"


@dataclass(frozen=True, slots=True)
class LocalMetric:
    """A number of one rank: where it is used, and what for."""

    at: Expression
    use: MetricUse


class LocalMetrics:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[LocalMetric]:
        """Yield the numbers of a script that no collective has made those of all ranks, as far as can be seen.

        What is said counts only where one rank says it, once an epoch or at the end.
        """
        for test in asked_for_truth(script):
            if isinstance(test, Comparison) and _asks_for_best(test) and self._is_local(test):
                yield LocalMetric(test, MetricUse.COMPARED)
        for call in script.calls:
            last = last_name(call.callee)
            if last == "step" and self._is_plateau(call):
                values = [given.value for given in call.arguments if given.keyword in (None, "metrics")][:1]
                yield from (LocalMetric(value, MetricUse.SCHEDULES) for value in values if self._is_local(value))
            elif last in _SAYS and self._is_of_one(call):
                values = [given.value for given in call.arguments if self._is_local(given.value)]
                yield from (LocalMetric(value, MetricUse.SAID) for value in values[:1])

    def _is_local(self, value: Expression) -> bool:
        """Whether a number is that of one rank; nothing in the functions that measure it exchanges anything."""
        if self._project.locality.of(value) is not Divergence.METRIC:
            return False
        calls = [piece for piece, _ in self._project.dependence.pieces(value) if isinstance(piece, Call)]
        if any(name.startswith(_EXCHANGED) for call in calls for name in self._project.names(call.callee)):
            return False
        measuring = {id(piece.scope.function): piece for piece in self._project.locality.measured_on(value)}
        beside = (call for one in measuring.values() for call in one.scope.script.calls_in(one.scope.function))
        return not any(map(self._may_exchange, beside))

    def _may_exchange(self, call: Call) -> bool:
        """Whether a call exchanges values, or runs a function in which ranks meet, maybe to do so through files."""
        if self._project.exchanges.gives(call):
            return True
        kinds = self._project.collectives.of_call(call)
        return self._project.resolver.function_of(call) is not None and bool(set(kinds) & COLLECTIVES)

    def _is_plateau(self, call: Call) -> bool:
        if not isinstance(call.callee, Attribute) or not call.arguments:
            return False
        made = [one for one in self._project.origins(call.callee.base) if isinstance(one, Call)]
        return any(_PLATEAU in self._project.names(one.callee) for one in made)

    def _is_of_one(self, call: Call) -> bool:
        loops = [loop for loop in call.region.loops if loop.kind is not LoopKind.COMPREHENSION]
        if not all(map(self._project.epochs.counts, loops)):
            return False
        return self._project.ranks(call).which is RankSet.ONE


def _asks_for_best(test: Comparison) -> bool:
    """Whether a comparison is that of a number with the best one so far."""
    names = [last_name(side) for side in test.children if isinstance(side, Name | Attribute)]
    is_order = len(test.comparisons) == 1 and test.comparisons[0][0] in _ORDERS
    return is_order and any(map(_BEST.fullmatch, names))
