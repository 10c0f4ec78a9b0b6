"""How a script itself asks for the first rank: a test that can be written at another place with the same meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.processes import Processes
from ddplint.semantics import (
    Attribute,
    Call,
    Comparison,
    Constant,
    Expression,
    Logic,
    Name,
    Not,
    Operation,
    Sequence,
)
from ddplint.semantics.expressions import last_name
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.ranks import names_rank
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Helpers that say of a process that it is the first one.
_IS_FIRST = re.compile(
    r"_?is_(?:main|master|primary|chief|leader|rank_?(?:0|zero)|root)(?:_process|_proc|_rank|_node)?"
)
_SEVERAL = re.compile(r"distribut|multiprocessing|world_?size|ddp|is_initialized|is_available", re.IGNORECASE)
_RANK_NAMES = ("rank", "global_rank", "world_rank")


class RankIdioms:
    """Finds the test of the first rank that can be written at a place."""

    def __init__(self, project: Project, processes: Processes) -> None:
        self._project = project
        self._processes = processes

    def test_of_first_rank(self, at: Expression) -> Expression | str | None:
        """Return a test that holds on the first rank and in a run with one process, and on no other rank of a node.

        An expression: written elsewhere in the script, and of the same meaning here. A text: put together from names
        that are known here. None: the script offers none.
        """
        written = sorted(self._written(at), key=lambda test: (_is_local(test), not _is_beside(test, at)))
        return written[0] if written else self._of_variable(at) or self._of_torch(at)

    def _written(self, at: Expression) -> Iterator[Expression]:
        """Yield the tests, and parts of tests, that the script writes elsewhere and that mean the same here."""
        regions = {id(region): region for call in at.scope.script.calls for region in call.region.around()}
        for region in regions.values():
            if region.test is None or not region.holds or region.implied or _is_under_several(region, at):
                continue
            for test in (region.test, *_conditions(region.test)):
                if self._holds_on_first(test) and self._means_the_same(test, at):
                    yield test

    def _holds_on_first(self, test: Expression) -> bool:
        return self._value(test, True) is True and self._value(test, False) is True

    def _value(self, test: Expression, several: bool) -> bool | None:
        """Evaluate a test on the first rank, with ``several`` processes or one; None where that can't be said."""
        if isinstance(test, Not):
            value = self._value(test.operand, several)
            if value is None and self._is_rank(test.operand):
                return True
            return None if value is None else not value
        if isinstance(test, Logic):
            values = [self._value(operand, several) for operand in test.operands]
            decisive = test.operator == "or"
            if decisive in values:
                return decisive
            return None if None in values else not decisive
        if isinstance(test, Comparison):
            return True if self._compares_with_first(test) else None
        if isinstance(test, Name | Attribute | Call):
            identifier = last_name(test)
            if _IS_FIRST.fullmatch(identifier):
                return True
            return several if _SEVERAL.search(identifier) else None
        return None

    def _compares_with_first(self, test: Comparison) -> bool:
        (operator, right), *more = test.comparisons
        if more or not self._is_rank(test.left):
            return False
        if operator == "in" and isinstance(right, Sequence):
            return {item.value for item in right.items if isinstance(item, Constant)} in ({0, -1}, {0})
        number = right.value if isinstance(right, Constant) else None
        return (operator, number) in (("==", 0), ("<=", 0), ("<", 1))

    def _is_rank(self, part: Expression) -> bool:
        if isinstance(part, Operation) and part.operator == "%":
            part = part.operands[0]
        identifier = last_name(part)
        if _IS_FIRST.fullmatch(identifier):
            return False
        return identifier.endswith("rank") and names_rank(identifier)

    def _means_the_same(self, test: Expression, at: Expression) -> bool:
        """Whether the names of a test mean at another place what they mean where it stands."""
        parts = list(test.walk())
        if any(isinstance(part, Attribute) and _is_set_after(part, at) for part in parts):
            return False
        if any(isinstance(part, Call) and self._fails_without_group(part) for part in parts):
            checked = any(last_name(part) == "is_initialized" for part in parts)
            if not checked and not self._processes.certainly_started(at):
                return False
        return all(_same_bindings(part, at) for part in parts if isinstance(part, Name))

    def _fails_without_group(self, call: Call) -> bool:
        """Whether a call asks torch for the rank, itself or in a helper, without looking first whether it may."""
        function = self._project.resolver.function_of(call)
        asked = [call] if function is None else self._processes.calls_of(function)
        names = {name for one in asked for name in self._project.names(one.callee)}
        looks = {"torch.distributed.is_initialized", "torch.distributed.is_available"}
        return "torch.distributed.get_rank" in names and not names & looks

    def _of_variable(self, at: Expression) -> str | None:
        for name in _RANK_NAMES:
            bindings = reaching(name, at) or []
            value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
            if value is None or self._project.rank_values.kinds(value) != {RankValue.GLOBAL}:
                continue
            if at.region.within(bindings[0].region) and not _has_other_default(value):
                return f"{name} == 0"
        return None

    def _of_torch(self, at: Expression) -> str | None:
        """Return a question to torch itself, where the group is certainly there to answer it."""
        if not self._processes.certainly_started(at):
            return None
        for name, bindings in at.scope.script.scope.bindings.items():
            imported = {binding.imported for binding in bindings if binding.kind is BindingKind.IMPORT}
            if imported == {"torch.distributed"} and len(bindings) == 1 and _reaches(bindings[0], at):
                return f"{name}.get_rank() == 0"
        return None


def _is_set_after(attribute: Attribute, at: Expression) -> bool:
    """Whether the function around a place sets an attribute only behind it, so that it may not be there yet."""
    stores = at.scope.script.attribute_stores.get(attribute.name, ())
    own = [store.order for store in stores if store.region.scope.function is at.scope.function]
    return bool(own) and min(own) > at.order


def _same_bindings(name: Name, at: Expression) -> bool:
    """Whether a name certainly has a value at a place, and the same as where it is read."""
    here, there = reaching(name.id, at), reaching(name.id, name)
    if here is None or there is None:
        return here is there
    if _is_same_self(here, there):
        return True
    return set(map(id, here)) == set(map(id, there)) and any(_is_bound_before(binding, at) for binding in here)


def _is_bound_before(binding: Binding, at: Expression) -> bool:
    defines = binding.kind in (BindingKind.IMPORT, BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.PARAMETER)
    return defines or at.region.within(binding.region)


def _is_same_self(here: list[Binding], there: list[Binding]) -> bool:
    """Whether both are the instance of the same class: ``self`` in two of its methods."""
    owners = []
    for bindings in (here, there):
        parameter = bindings[0].parameter if len(bindings) == 1 else None
        if parameter is None or parameter.index != 0 or parameter.function.cls is None:
            return False
        owners.append(parameter.function.cls)
    return owners[0] is owners[1]


def _reaches(binding: Binding, at: Expression) -> bool:
    return reaching(binding.name, at) == [binding]


def _conditions(test: Expression) -> tuple[Expression, ...]:
    """Return the parts that a test joins by ``and``; none where one of them asks for several processes."""
    joined = test.operands if isinstance(test, Logic) and test.operator == "and" else ()
    return () if any(_asks_for_several(part) for part in joined) else joined


def _is_under_several(region: Region, at: Expression) -> bool:
    """Whether a test stands where there are several processes, and the place does not."""
    return any(
        outer.test is not None and outer is not region and _asks_for_several(outer.test) and not at.region.within(outer)
        for outer in region.chain()
    )


def _asks_for_several(test: Expression) -> bool:
    return any(_SEVERAL.search(last_name(part)) for part in test.walk())


def _has_other_default(value: Expression) -> bool:
    """Whether a rank read from the environment falls back to something that is not 0."""
    defaults = [part.arguments[1].value for part in value.walk() if isinstance(part, Call) and len(part.arguments) == 2]
    return not all(isinstance(default, Constant) and default.value in (0, "0") for default in defaults)


def _is_local(test: Expression) -> bool:
    return any("local" in last_name(part) for part in test.walk())


def _is_beside(test: Expression, at: Expression) -> bool:
    return test.scope.function is at.scope.function
