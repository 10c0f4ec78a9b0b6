"""What an expression comes to on each of some sample processes, and which of these come to a line.

What is not known counts as equal on all ranks: only what asks for the rank tells processes apart here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.project.lanes import (
    CHANGING,
    EVERYONE,
    UNSURE,
    Row,
    Rows,
    calculate,
    combined,
    is_open,
    keeps_some_out,
    lets_all_in,
    parting,
    same,
    truths,
    unless_switch,
)
from ddplint.project.rank_names import names_distribution, row_by_name, row_of_kind
from ddplint.semantics import (
    Assigned,
    Attribute,
    Call,
    Comparison,
    Conditional,
    Constant,
    Expression,
    Logic,
    Name,
    Not,
    Operation,
    Passed,
    Subscript,
)
from ddplint.semantics import Sequence as Display
from ddplint.semantics.expressions import last_name
from ddplint.semantics.facts import facts, is_settled
from ddplint.semantics.launchers import launched, process_index
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Origin
from ddplint.semantics.structure import Binding, BindingKind, Parameter, Region, RegionKind, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_VAGUE: Rows = frozenset([same(UNSURE)])
_CHANGING: Rows = frozenset([same(CHANGING)])
_CONVERSIONS = frozenset({"builtins.int", "builtins.bool", "builtins.str", "builtins.float"})
_IS_INITIALIZED = "torch.distributed.is_initialized"
# Calls that give the rank or the number of dimensions of a tensor.
_COUNTS = frozenset({"dim", "matrix_rank", "ndimension"})
_PROPERTIES = frozenset({"property", "cached_property"})
# What gives a name a value that the name speaks of; a loop over the ranks is run through by every rank.
_NAMED_WELL = frozenset({BindingKind.ASSIGNMENT, BindingKind.PARAMETER, BindingKind.IMPORT})
# Expressions that are looked into for one answer, and rows for one of them: beyond, it is not known.
_DEEPEST = 200
_MOST = 12


class RankOutcomes:
    """Evaluates expressions for the sample processes (see lanes)."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._resolver = project.resolver
        self._values = project.rank_values
        self._frames = project.frames
        self._exchanges = project.exchanges
        self._known: dict[tuple[int, Frame | None], Rows] = {}
        self._asked: dict[tuple[int, Frame | None], Rows] = {}
        self._let_through: dict[tuple[int, Frame | None], frozenset[int]] = {}

    def of(self, expression: Expression, frame: Frame | None = None) -> Rows:
        """Return every row of values that an expression can have; ``frame``: how the function around it is run."""
        key = (id(expression), frame)
        known = self._known.get(key, self._asked.get(key))
        if known is not None or len(self._asked) > _DEEPEST:
            return _VAGUE if known is None else known
        outermost = not self._asked
        self._asked[key] = _VAGUE  # what a value made from itself gets
        rows = frozenset(self._rows(expression, frame)) or _VAGUE
        found = self._asked[key] = rows if len(rows) <= _MOST else _VAGUE
        if outermost:
            self._known[key] = found
            self._asked.clear()
        return found

    def processes(self, region: Region, frame: Frame | None = None) -> frozenset[int]:
        """Return which of the samples can come to a region, as far as the tests inside its function say."""
        function = region.scope.function
        around: list[Region] = []
        for outer in region.around():
            if outer.scope.function is not function:
                break
            if outer.test is not None:
                around.append(outer)
        found = self._project.decorators.let_in(function)
        for outer in around:
            if not is_settled(outer, facts(other for other in around if other is not outer)):
                found &= self.let_through(outer, frame)
        return found

    def let_through(self, region: Region, frame: Frame | None = None) -> frozenset[int]:
        """Return which of the samples the test of a region itself lets into it."""
        if region.kind is not RegionKind.BRANCH or region.test is None:
            return EVERYONE
        key = (id(region), frame)
        if key in self._let_through:
            return self._let_through[key]
        part = parting(self.of(region.test, frame), region.holds)
        found = EVERYONE if part is None else part
        if not self._asked:
            self._let_through[key] = found
        return found

    def parts(self, region: Region, frame: Frame | None = None) -> bool:
        """Whether the test of a region lets some ranks in and others not."""
        return self.let_through(region, frame) not in (EVERYONE, frozenset())

    def lets_all_in(self, region: Region) -> bool:
        """Whether the test of a region certainly lets all ranks into it."""
        return region.test is not None and lets_all_in(self.of(region.test), region.holds)

    def keeps_some_out(self, region: Region) -> bool:
        """Whether the test of a region may let some ranks into it, but never all."""
        branches = region.kind is RegionKind.BRANCH and region.test is not None
        return branches and region.test is not None and keeps_some_out(self.of(region.test), region.holds)

    def is_switched(self, region: Region, frame: Frame | None = None) -> bool:
        """Whether an option or the like, rather than the rank, decides if a region is run.

        What follows an early exit is what happens as a rule, unless a plain switch decides about the exit.
        """
        if region.kind is RegionKind.HANDLER:
            return True
        if region.kind is not RegionKind.BRANCH or region.test is None:
            return False
        if region.implied and not _is_plain(region.test):
            return False
        if self.parts(region, frame) or any(names_distribution(last_name(part)) for part in region.test.walk()):
            return False
        return any(all(row) is not region.holds for row in truths(self.of(region.test, frame)))

    def _rows(self, expression: Expression, frame: Frame | None) -> Iterator[Row]:
        if isinstance(expression, Constant):
            yield same(expression.value)
        elif isinstance(expression, Display):
            yield from _displays([self.of(item, frame) for item in expression.items])
        elif isinstance(expression, Comparison):
            yield from self._compared(expression, frame)
        elif isinstance(expression, Logic):
            yield from self._logic(expression, frame)
        elif isinstance(expression, Not):
            yield from (tuple(not held for held in row) for row in truths(self.of(expression.operand, frame)))
        elif isinstance(expression, Operation) and len(expression.operands) == 2:
            for left, right in combined(self.of(operand, frame) for operand in expression.operands):
                yield calculate(expression.operator, left, right)
        elif isinstance(expression, Conditional):
            yield from self._chosen(expression, frame)
        elif isinstance(expression, Assigned | Passed):
            yield from _VAGUE if expression.value is None else self.of(expression.value, frame)
        elif isinstance(expression, Name | Attribute | Call | Subscript):
            yield from self._read(expression, frame)
        else:
            yield from _VAGUE

    def _compared(self, test: Comparison, frame: Frame | None) -> Iterator[Row]:
        sides = [test.left, *(right for _, right in test.comparisons)]
        for rows in combined(self.of(side, frame) for side in sides):
            held = [
                calculate(sign, left, right)
                for (sign, _), left, right in zip(test.comparisons, rows, rows[1:], strict=False)
            ]
            yield from held if len(held) == 1 else _every(held)

    def _logic(self, logic: Logic, frame: Frame | None) -> Iterator[Row]:
        for rows in combined(_settled(self.of(operand, frame)) for operand in logic.operands):
            yield tuple(_decided(values, logic.operator) for values in zip(*rows, strict=True))

    def _chosen(self, choice: Conditional, frame: Frame | None) -> Iterator[Row]:
        tests = frozenset(truths(self.of(choice.test, frame)))
        for test, then, otherwise in combined([tests, self.of(choice.then, frame), self.of(choice.otherwise, frame)]):
            yield tuple(one if held else other for held, one, other in zip(test, then, otherwise, strict=True))

    def _read(self, read: Expression, frame: Frame | None) -> Rows:
        """What a name, attribute or call is: by the values that reach it, else by its name."""
        if isinstance(read, Name):
            rows = self._of_name(read, frame)
        elif isinstance(read, Attribute):
            rows = self._of_attribute(read)
        else:
            rows = self._of_call(read, frame) if isinstance(read, Call) else self._of_kinds(read)
        if isinstance(read, Subscript) and isinstance(read.index, Constant) and isinstance(read.index.value, str):
            return rows or _by_name(read.index.value)
        if isinstance(read, Name) or (rows and rows != _VAGUE):
            return rows or _VAGUE
        return _by_name(last_name(read.callee if isinstance(read, Call) else read))

    def _of_name(self, name: Name, frame: Frame | None) -> Rows:
        bindings = reaching(name.id, name)
        if not bindings:
            rows = self._of_origins(self._resolver.origins(name))
            return _by_name(name.id) if rows == _VAGUE else rows
        here = self.processes(name.region, frame)
        merged: set[Row] = set()
        for binding in bindings:
            inside = frame if binding.region.scope.function is name.scope.function else None
            rows = self._of_binding(name, binding, inside)
            if rows == _VAGUE and binding.kind in _NAMED_WELL and not self._is_other_number(binding.value):
                rows = _by_name(name.id)
            part = self.processes(binding.region, inside)
            if not here <= part and self._exchanges.touch(name):
                return _VAGUE
            merged = set() if self._always_runs(binding.region, name.region, inside) else merged
            merged = _overlaid(merged, rows, part if not here <= part else EVERYONE)
        return frozenset(merged)

    def _is_other_number(self, value: Expression | None) -> bool:
        """Whether a value is certainly no rank of a process, though it may be called ``rank``: that of a matrix."""
        if isinstance(value, Attribute):
            return value.name == "ndim"
        if not isinstance(value, Call):
            return False
        return "builtins.len" in self._resolver.names(value.callee) or last_name(value.callee) in _COUNTS

    def _always_runs(self, region: Region, later: Region, frame: Frame | None) -> bool:
        """Whether all samples have gone through a region when they come to a later place."""
        shared = set(map(id, later.around()))
        inner = [outer for outer in region.chain() if id(outer) not in shared]
        return all(
            outer.kind is RegionKind.WITH
            or (
                outer.kind is RegionKind.BRANCH
                and outer.test is not None
                and all(held is outer.holds for row in truths(self.of(outer.test, frame)) for held in row)
            )
            for outer in inner
        )

    def _of_binding(self, name: Name, binding: Binding, frame: Frame | None) -> Rows:
        if binding.kind is BindingKind.ASSIGNMENT and binding.value is not None and not binding.path:
            switch = isinstance(binding.value, Constant) and names_distribution(binding.name)
            return _VAGUE if switch else self.of(binding.value, frame)  # `distributed = False`: the user sets it
        if binding.kind is BindingKind.PARAMETER and binding.parameter is not None:
            given = self._frames.given(binding.parameter, frame)
            if given is not None:
                return self.of(*given)
            return self._of_parameter(binding.parameter)
        if binding.kind in (BindingKind.ASSIGNMENT, BindingKind.IMPORT):
            return self._of_origins(self._resolver.origins(name))
        return _CHANGING if binding.kind is BindingKind.LOOP else _VAGUE

    def _of_parameter(self, parameter: Parameter) -> Rows:
        """What the calls in sight give for a parameter, each as it comes out where it is made."""
        kind = self._values.of_parameter(parameter)
        if kind is not None:
            return frozenset([row_of_kind(kind)])
        calls, complete = self._resolver.linker.callers(parameter.function)
        rows: set[Row] = set() if calls and complete else set(_by_name(parameter.name))
        for call in calls:
            rows |= self._handed(call, parameter)
        return frozenset(rows)

    def _handed(self, call: Call, parameter: Parameter) -> Rows:
        """What a call gives for a parameter.

        What a loop counts and hands to the processes that it starts numbers them, as does the index of ``spawn``.
        """
        given = self._frames.given(parameter, Frame(parameter.function, call, None))
        found = _VAGUE if given is None else self.of(*given)
        counted = found == _CHANGING and launched(self._resolver, call) is not None
        if counted or (given is None and process_index(self._resolver, call, parameter.function) == parameter.name):
            return frozenset([row_by_name(parameter.name) or row_of_kind(RankValue.LOCAL)])
        return found

    def _of_attribute(self, read: Attribute) -> Rows:
        """What is put into an attribute; one that is only seen to be turned on or off is a switch for others."""
        stores = list(self._resolver.stores_of(read))
        rows: set[Row] = set()
        for store in stores:
            part = self.processes(store.region)
            if part != EVERYONE and self._exchanges.touch(read):
                return _VAGUE
            rows = _overlaid(rows, self._stored(store), part)
        if rows:
            return unless_switch(rows)
        cls = self._resolver.class_of(read.base)
        method = None if cls is None else self._resolver.method(cls, read.name)
        if method is not None and any(last_name(given) in _PROPERTIES for given in method.decorators):
            return frozenset(row for value in method.returns for row in self.of(value))
        origins = (origin for origin in self._resolver.origins(read) if origin is not read)
        return self._of_kinds(read) | unless_switch(self._of_origins(origins))

    def _stored(self, store: Store) -> Rows:
        whole = store.value is not None and not store.path and not store.augmented
        rows = self.of(store.value) if whole and store.value is not None else _VAGUE
        return _by_name(store.name or "") if rows == _VAGUE else rows

    def _of_call(self, call: Call, frame: Frame | None) -> Rows:
        rows = self._of_kinds(call)
        if rows:
            return rows
        names = self._resolver.names(call.callee)
        if names & _CONVERSIONS and call.arguments:
            return self.of(call.arguments[0].value, frame)
        if "builtins.getattr" in names and len(call.arguments) > 1:
            key = call.arguments[1].value
            return _by_name(key.value) if isinstance(key, Constant) and isinstance(key.value, str) else _VAGUE
        if _IS_INITIALIZED in names and self._project.processes.precedes_start(_outermost(call, frame)):
            return frozenset([same(False)])
        inside = self._frames.enter(call, frame)
        if inside is None or inside.function.yields or inside.function.name == "__init__":
            return frozenset()
        return self._returned(inside)

    def _returned(self, frame: Frame) -> Rows:
        """What a function gives back to each process: some may go out by another ``return`` than others, or by none."""
        values = [(value, self.processes(value.region, frame)) for value in frame.function.returns]
        without = EVERYONE.difference(*(part for _, part in values))
        rows: set[Row] = {same(None)} if values and without else set()
        for value, part in values:
            rows = _overlaid(rows, self.of(value, frame), part)
        return frozenset(rows)

    def _of_kinds(self, read: Expression) -> Rows:
        return frozenset(row_of_kind(kind) for kind in self._values.kinds(read) if kind is not None)

    def _of_origins(self, origins: Iterable[Origin]) -> Rows:
        rows: set[Row] = set()
        for origin in origins:
            if isinstance(origin, Parameter):
                kind = self._values.of_parameter(origin)
                rows |= _by_name(origin.name) if kind is None else {row_of_kind(kind)}
            elif isinstance(origin, Expression):
                rows |= self.of(origin)
            else:
                rows |= _VAGUE
        return frozenset(rows)


def _is_plain(test: Expression) -> bool:
    """Whether a test asks for the truth of one thing: ``blocked()``, ``not args.sync``."""
    return isinstance(test.operand if isinstance(test, Not) else test, Name | Attribute | Call)


def _outermost(at: Expression, frame: Frame | None) -> Expression:
    """Return the first call of all through which an expression is looked at, the expression itself when alone."""
    while frame is not None:
        at, frame = frame.call, frame.outer
    return at


def _displays(items: list[Rows]) -> Iterator[Row]:
    for rows in combined(items):
        yield tuple(zip(*rows, strict=True)) if rows else same(())


def _settled(rows: Rows) -> Rows:
    """Rows in which whatever is open has turned out true or false."""
    return frozenset(
        settled for row in rows for settled in (truths(frozenset([row])) if any(map(is_open, row)) else (row,))
    )


def _decided(values: Iterable[object], operator: str) -> object:
    """What ``a and b`` or ``a or b`` gives."""
    last: object = None
    for last in values:
        if bool(last) is (operator == "or"):
            break
    return last


def _every(rows: list[Row]) -> Iterator[Row]:
    for choice in combined(frozenset(truths(frozenset([row]))) for row in rows):
        yield tuple(all(held) for held in zip(*choice, strict=True))


def _overlaid(rows: set[Row], later: Rows, part: frozenset[int]) -> set[Row]:
    """Rows after some processes have got a later value; all of them: either value is possible."""
    if part == EVERYONE or not rows:
        return rows | later
    return {
        tuple(new[number] if number in part else old[number] for number in EVERYONE) for old in rows for new in later
    }


def _by_name(word: str) -> Rows:
    named = row_by_name(word)
    return _VAGUE if named is None else frozenset([named])
