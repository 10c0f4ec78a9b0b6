"""The tensors that a call gives to a collective, itself or through functions of the project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Expression, Name
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching

if TYPE_CHECKING:
    from ddplint.project.project import Project

_PACKAGE = "torch.distributed."
# Collectives and messages of tensors, and how many of their first arguments are tensors, or lists of them.
_TENSORS = {
    "all_gather": 2,
    "all_gather_into_tensor": 2,
    "all_reduce": 1,
    "all_to_all": 2,
    "all_to_all_single": 2,
    "broadcast": 1,
    "gather": 2,
    "irecv": 1,
    "isend": 1,
    "recv": 1,
    "reduce": 1,
    "reduce_scatter": 2,
    "reduce_scatter_tensor": 2,
    "scatter": 2,
    "send": 1,
}
_KEYWORDS = frozenset(
    {
        "gather_list",
        "input",
        "input_list",
        "input_tensor_list",
        "input_tensor",
        "output",
        "output_tensor",
        "output_tensor_list",
        "scatter_list",
        "tensor",
        "tensor_list",
    }
)
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class CollectiveInput:
    """A tensor, or a list of them, that a call is given; ``path``: the calls from there to the collective."""

    value: Expression
    path: tuple[Call, ...]

    @property
    def collective(self) -> Call:
        return self.path[-1]


class CollectiveInputs:
    """Answers for the calls of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, call: Call, depth: int = 0) -> Iterator[CollectiveInput]:
        """Yield the tensors that a call hands to collectives just as they are, and on which way."""
        last = last_name(call.callee)
        if last in _TENSORS and all(name.startswith(_PACKAGE) for name in self._project.names(call.callee)):
            for number, given in enumerate(call.arguments):
                is_placed = given.keyword is None and not given.star and number < _TENSORS[last]
                if is_placed or given.keyword in _KEYWORDS:
                    yield CollectiveInput(given.value, (call,))
            return
        function = self._project.resolver.function_of(call) if depth < _DEEPEST else None
        if function is None or not self._project.collectives.of_function(function):
            return
        given_to = self._project.resolver.bound(call, function)
        for inner in function.script.calls_in(function):
            for found in self.of(inner, depth + 1):
                parameter = _only_parameter(found.value)
                if parameter is not None and parameter in given_to:
                    yield CollectiveInput(given_to[parameter], (call, *found.path))


def _only_parameter(value: Expression) -> str | None:
    """Return the parameter that a name certainly holds, just as it was handed in."""
    bindings = reaching(value.id, value) if isinstance(value, Name) else None
    parameter = bindings[0].parameter if bindings and len(bindings) == 1 else None
    return None if parameter is None else parameter.name
