"""Tests of the rank that come out the same on every rank, because of what they compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Logic, Script, Sequence, Subscript
from ddplint.semantics.alike import alike
from ddplint.semantics.rank_values import RANKS, RankValue
from ddplint.semantics.tested import parts_of

if TYPE_CHECKING:
    from ddplint.project.project import Project

_ENVIRONMENT = frozenset({"os.environ", "os.environ.get", "os.getenv"})
_NUMBERS = frozenset({"builtins.int", "torch.distributed.get_rank", "torch.distributed.get_node_local_rank"})
_EQUAL, _UNEQUAL = frozenset({"==", "in"}), frozenset({"!=", "not in"})
# What makes the value of an option something else than the text of the command line.
_CONVERTING = frozenset({"type", "action", "nargs"})


class Deadness(Enum):
    """Why a test can't tell the ranks apart."""

    TEXT = "the rank is text and is compared with a number"
    OPTION = "the rank is an option without a type and is compared with a number"
    NUMBER = "the rank is a number and is compared with text"
    LIST = "the rank is a number and is compared with a list"
    WORLD_SIZE = "no rank is as large as the number of processes"
    CONTRADICTION = "no rank is two numbers at once"


@dataclass(frozen=True, slots=True)
class DeadTest:
    """A test, the part that holds the rank, and whether the test holds: on every rank or on none."""

    at: Comparison | Logic
    rank: Expression
    holds: bool
    why: Deadness


class DeadTests:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[DeadTest]:
        """Yield the tests of the rank in a script that certainly come out the same on every rank."""
        for test in parts_of(script, Comparison):
            (operator, right), *more = test.comparisons
            if more or operator not in _EQUAL | _UNEQUAL:
                continue
            for rank, other in ((test.left, right), (right, test.left)):
                why = self._why(rank, operator, other)
                if why is not None:
                    yield DeadTest(test, rank, operator in _UNEQUAL, why)
        for logic in parts_of(script, Logic):
            yield from self._contradictions(logic)

    def _why(self, rank: Expression, operator: str, other: Expression) -> Deadness | None:
        kinds = self._project.rank_values.kinds(rank)
        of_all = self._project.rank_values.kinds(other) == {RankValue.WORLD_SIZE}
        if kinds == {RankValue.GLOBAL} and of_all and operator in ("==", "!="):
            return Deadness.WORLD_SIZE
        if _are(int, other, operator) and not _is_absence(other):
            if kinds <= RANKS and self._is_text(rank):
                return Deadness.TEXT
            return Deadness.OPTION if self._is_untyped_option(rank) else None
        if not kinds <= RANKS or not self._is_number(rank):
            return None
        if _are(str, other, operator):
            return Deadness.NUMBER
        return Deadness.LIST if operator in ("==", "!=") and isinstance(other, Sequence) else None

    def _is_text(self, rank: Expression) -> bool:
        """Whether a value certainly is read from the environment as it is."""
        for origin in self._project.origins(rank):
            place = (
                origin.base if isinstance(origin, Subscript) else origin.callee if isinstance(origin, Call) else None
            )
            if place is None or not self._project.names(place) <= _ENVIRONMENT:
                return False
        return True

    def _is_number(self, rank: Expression) -> bool:
        return all(
            isinstance(origin, Call) and self._project.names(origin.callee) <= _NUMBERS
            for origin in self._project.origins(rank)
        )

    def _is_untyped_option(self, rank: Expression) -> bool:
        """Whether a value certainly is that of an option without a type: text where it is given, else its default."""
        option = self._project.options.of(rank)
        if option is None or not isinstance(rank, Attribute) or not self._project.rank_values.kinds(rank) <= RANKS:
            return False
        if any(given.star or given.keyword in _CONVERTING for given in option.call.arguments):
            return False
        is_constant = option.default is None or isinstance(option.default, Constant)
        return is_constant and not self._is_stored(rank)

    def _is_stored(self, rank: Attribute) -> bool:
        """Whether any file of the program puts something into an attribute of this name."""
        script, word = rank.scope.script, rank.name.encode()
        if self._project.mentions(script, (b"set_defaults", b"setattr")):
            return True
        files = self._project.files
        paths = (path for path in self._project.program_of(script) if word in files.content(path))
        scripts = (script, *(found for path in paths if (found := self._project.script(path)) is not None))
        return any(rank.name in one.attribute_stores for one in scripts)

    def _contradictions(self, logic: Logic) -> Iterator[DeadTest]:
        """Yield ``rank == 0 and rank == 1``, which never holds, and ``rank != 0 or rank != 1``, which always does."""
        operator = "==" if logic.operator == "and" else "!="
        seen: list[tuple[Expression, object]] = []
        for part in logic.operands:
            if not isinstance(part, Comparison) or [one for one, _ in part.comparisons] != [operator]:
                continue
            number = part.comparisons[0][1]
            if not isinstance(number, Constant) or not self._project.rank_tests.asks_rank(part):
                continue
            if any(value != number.value and alike(rank, part.left) for rank, value in seen):
                yield DeadTest(logic, part.left, operator == "!=", Deadness.CONTRADICTION)
                return
            seen.append((part.left, number.value))


def _are(kind: type, value: Expression, operator: str) -> bool:
    """Whether something that is compared is a constant of a type, or holds such constants only."""
    held = value.items if operator in ("in", "not in") and isinstance(value, Sequence) else (value,)
    return bool(held) and all(isinstance(item, Constant) and type(item.value) is kind for item in held)


def _is_absence(value: Expression) -> bool:
    """Whether something stands for no rank at all, such as -1: a test whether there is one."""
    constants = [part.value for part in value.walk() if isinstance(part, Constant)]
    return not any(isinstance(number, int) and number >= 0 for number in constants)
