"""Decorators that let only some ranks run a function: by what they do where that can be seen, else by their name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.lanes import EVERYONE
from ddplint.semantics import Call, Constant, Expression, Name
from ddplint.semantics.expressions import last_name
from ddplint.semantics.ranks import names_rank
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

_FIRST, _SECOND, _LAST = frozenset([0]), frozenset([1]), frozenset([len(EVERYONE) - 1])
_BY_NAME = {
    "master_only": _FIRST,
    "main_process_only": _FIRST,
    "on_last_process": _LAST,
    "on_process": _SECOND,
    "on_local_process": _SECOND,
}


class Decorators:
    """Answers for the functions of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, frozenset[int]] = {}

    def let_in(self, function: Function | None) -> frozenset[int]:
        """Return which of the sample processes (see lanes) run a function that all of them call."""
        found = EVERYONE
        for decorator in () if function is None else function.decorators:
            found &= self._let_through(decorator)
        return found

    def deciding(self, function: Function | None) -> Expression | None:
        """Return the decorator that keeps some ranks out of a function or of one around it, None: there is none."""
        while function is not None:
            for decorator in function.decorators:
                if self._let_through(decorator) != EVERYONE:
                    return decorator
            parent = function.scope.parent
            function = None if parent is None else parent.function
        return None

    def _let_through(self, decorator: Expression) -> frozenset[int]:
        if id(decorator) not in self._known:
            self._known[id(decorator)] = EVERYONE  # what a decorator that is decorated with itself gets
            made = self._made_of(decorator)
            runs = [] if made is None else list(_runs(made))
            parts = [self._project.rank_outcomes.processes(call.region) for call in runs]
            self._known[id(decorator)] = frozenset().union(*parts) if parts else _by_name(decorator)
        return self._known[id(decorator)]

    def _made_of(self, decorator: Expression) -> Function | None:
        """Return the project's function that gets the decorated function: of a call, what that call returns."""
        if isinstance(decorator, Call):
            maker = self._project.resolver.function_of(decorator)
            origins = [] if maker is None else [one for given in maker.returns for one in self._project.origins(given)]
        else:
            origins = list(self._project.origins(decorator))
        return origins[0] if len(origins) == 1 and isinstance(origins[0], Function) else None


def _runs(decorator: Function) -> Iterator[Call]:
    """Yield the calls of the decorated function inside a decorator."""
    if not decorator.parameters:
        return
    handed = decorator.parameters[0]
    for call in decorator.script.calls:
        callee = call.callee
        named = isinstance(callee, Name) and callee.id == handed.name
        if named and any(binding.parameter is handed for binding in reaching(handed.name, callee) or ()):
            yield call


def _by_name(decorator: Expression) -> frozenset[int]:
    name = last_name(decorator.callee if isinstance(decorator, Call) else decorator)
    if name == "on_process" and isinstance(decorator, Call):
        numbers = [given.value.value for given in decorator.arguments if isinstance(given.value, Constant)]
        return _FIRST if numbers == [0] else _SECOND
    if name in _BY_NAME:
        return _BY_NAME[name]
    return _FIRST if names_rank(name) else EVERYONE
