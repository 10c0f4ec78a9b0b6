"""Questions about the rank that are never asked: functions that a test reads and does not call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Name, Script, Sequence
from ddplint.semantics.ranks import names_rank
from ddplint.semantics.resolve import Imported
from ddplint.semantics.structure import Function
from ddplint.semantics.tested import asked_for_truth, parts_of

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Functions that say which process asks, how many there are, or whether there are any.
_QUESTIONS = frozenset(
    f"torch.distributed.{name}"
    for name in (
        "get_backend",
        "get_node_local_rank",
        "get_rank",
        "get_world_size",
        "is_available",
        "is_gloo_available",
        "is_initialized",
        "is_mpi_available",
        "is_nccl_available",
        "is_torchelastic_launched",
    )
) | {
    "horovod.torch.is_initialized",
    "horovod.torch.local_rank",
    "horovod.torch.rank",
    "horovod.torch.size",
}
_NEEDS_GROUP = frozenset({"get_backend", "get_node_local_rank", "get_rank", "get_world_size"})
# Decorators that leave a function a function.
_HARMLESS = frozenset({"functools.cache", "functools.lru_cache", "builtins.staticmethod", "builtins.classmethod"})
_EQUALITY = frozenset({"==", "!=", "in", "not in"})


@dataclass(frozen=True, slots=True)
class Uncalled:
    """A function that is read in a test: asked for its truth, or ``compared`` with a number.

    ``answers``: called without arguments it gives an answer at this place, whether or not there is a group.
    """

    at: Name | Attribute
    compared: bool
    answers: bool


class UncalledGuards:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Uncalled]:
        """Yield the questions about the rank, or the group, that a script reads in a test and does not call."""
        for part in asked_for_truth(script):
            yield from self._uncalled(part, False)
        for comparison in parts_of(script, Comparison):
            for operator, right in comparison.comparisons[:1]:
                if operator in _EQUALITY and _is_number(right):
                    yield from self._uncalled(comparison.left, True)

    def _uncalled(self, part: Expression, is_compared: bool) -> Iterator[Uncalled]:
        if not isinstance(part, Name | Attribute):
            return
        origins = self._project.origins(part)
        if origins and all(self._asks(origin) for origin in origins):
            yield Uncalled(part, is_compared, all(self._answers(origin, part) for origin in origins))

    def _asks(self, origin: object) -> bool:
        """Whether something certainly is a function that speaks of the rank or of the group."""
        if isinstance(origin, Imported):
            return origin.name in _QUESTIONS
        if not isinstance(origin, Function) or origin.is_lambda or origin.yields:
            return False
        if not all(self._project.certainly(decorator, *_HARMLESS) for decorator in origin.decorators):
            return False
        return names_rank(origin.name) or any(map(self._speaks_of_rank, origin.returns))

    def _speaks_of_rank(self, value: Expression) -> bool:
        if self._project.rank_tests.asks_rank(value):
            return True
        calls = (part for part in value.walk() if isinstance(part, Call))
        return any(self._project.certainly(call.callee, *_QUESTIONS) for call in calls)

    def _answers(self, origin: object, at: Expression) -> bool:
        """Whether a function can be called at a place as it is."""
        if isinstance(origin, Imported):
            needs = origin.name.rpartition(".")[2] in _NEEDS_GROUP
            return not needs or self._project.processes.certainly_started(at)
        if not isinstance(origin, Function):
            return False
        own = 1 if isinstance(at, Attribute) and origin.cls is not None else 0
        needed = [one for one in origin.parameters if one.default is None and one.kind in ("positional", "keyword")]
        return len(needed) <= own and self._project.processes.certainly_started(at)


def _is_number(value: Expression) -> bool:
    """Whether something is a number, or some of them."""
    items = value.items if isinstance(value, Sequence) else (value,)
    return all(isinstance(item, Constant) and isinstance(item.value, int) for item in items)
