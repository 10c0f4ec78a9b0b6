"""Checkpoints that are read back: whether a model or an optimizer takes its state from one, and who else reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import (
    Attribute,
    Call,
    Comparison,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Logic,
    Subscript,
)
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

LOAD = "torch.load"
_TAKES_STATE = "load_state_dict"
# Parts of checkpoints that are plain numbers or words, whatever device the tensors were on.
_PLAIN = re.compile(r"epoch|iter|(?:^|_)step|arch|args|config|cfg|version|opt$|hparams|name|date|rate", re.IGNORECASE)
_PARTS = frozenset({"get", "pop", "state_dict", "items", "copy"})
_HARMLESS = frozenset({"builtins.len", "builtins.print", "builtins.isinstance", "builtins.type", "builtins.bool"})
_MOST = 60


class Checkpoints:
    """Follows what ``torch.load`` returns through names, items, returns and calls of the project's functions."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def feeds_state(self, load: Call) -> bool:
        """Whether some ``load_state_dict`` certainly takes the checkpoint or a part of it."""
        return any(use is not None for use in self._uses(load))

    def feeds_only_state(self, load: Call) -> bool:
        """Whether nothing else takes a part of it that may be a tensor."""
        uses = list(self._uses(load))
        return bool(uses) and None not in uses

    def _uses(self, load: Call) -> Iterator[Call | None]:
        """Yield each ``load_state_dict`` that takes a part, and None for every use that can't be followed."""
        pending: list[Expression] = [load]
        seen: set[int] = set()
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if len(seen) > _MOST:
                yield None
                return
            for use in self._next(value):
                if isinstance(use, Call) and last_name(use.callee) == _TAKES_STATE:
                    yield use
                    if any(given.keyword in ("assign", None) for given in use.arguments[1:]):
                        yield None  # the model may keep the tensors themselves
                elif use is None:
                    yield None
                else:
                    pending.append(use)

    def _next(self, value: Expression) -> Iterator[Expression | None]:
        """Yield where a value goes next: expressions that have it or a part of it; None where it is lost."""
        uses = self._project.uses(value.scope.script)
        parent = uses.parent(value)
        if parent is not None:
            yield from self._of_parent(value, parent)
            return
        for binding in uses.bindings(value):
            yield from uses.reads(binding) if not binding.path else (None,)
        if uses.stores(value) or uses.loops(value):
            yield None
        function = uses.returned_by(value)
        if function is not None:
            calls, complete = self._project.callers(function)
            yield from calls if complete else (*calls, None)

    def _of_parent(self, value: Expression, parent: Expression) -> Iterator[Expression | None]:
        if isinstance(parent, Subscript) and parent.base is value:
            yield from () if _is_plain(parent.index) else (parent,)
        elif isinstance(parent, Attribute):
            call = self._project.uses(parent.scope.script).parent(parent)
            taken = isinstance(call, Call) and call.callee is parent and parent.name in _PARTS
            if taken and isinstance(call, Call) and not (call.arguments and _is_plain(call.arguments[0].value)):
                yield call
            elif not taken and parent.name not in ("keys", "update"):
                yield None
        elif isinstance(parent, Call):
            yield from self._given(value, parent)
        elif isinstance(parent, Conditional | Logic | Comprehension):
            yield parent
        elif not isinstance(parent, Comparison):
            yield None

    def _given(self, value: Expression, call: Call) -> Iterator[Expression | None]:
        """Yield where an argument of a call goes."""
        if last_name(call.callee) == _TAKES_STATE:
            yield call
            return
        if self._project.names(call.callee) <= _HARMLESS:
            return
        function = self._project.resolver.function_of(call)
        bound = {} if function is None else self._project.resolver.bound(call, function)
        names = [name for name, given in bound.items() if given is value]
        if function is None or not names:
            yield None
            return
        uses = self._project.uses(function.script)
        for binding in function.scope.bindings.get(names[0], ()):
            if binding.parameter is not None:
                yield from uses.reads(binding)


def _is_plain(key: Expression | None) -> bool:
    return isinstance(key, Constant) and isinstance(key.value, str) and bool(_PLAIN.search(key.value))
