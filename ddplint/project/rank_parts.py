"""Whether the rank has a part in a value: in a share of a dataset, in a seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.rank_names import row_by_name
from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Name, Not, Operation, Subscript
from ddplint.semantics.expressions import last_name
from ddplint.semantics.rank_values import RANKS, RankValue
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import BindingKind, Class, Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Objects that hold the options of a whole program: what else was put into them has no part in one option.
_OPTIONS = re.compile(r"(?:\w+_)?(?:args?|opts?|options?|cfg|conf|config|hparams?|hps?|flags|settings)", re.IGNORECASE)
_DEVICE = re.compile(r"(?:\w+_)?(?:device|gpu|gpu_id)s?", re.IGNORECASE)
# Names of what shares things out over the ranks.
_SHARES = re.compile(r"shard|by_(?:node|rank|worker)|num_replicas|world|per_rank|partition", re.IGNORECASE)
# What a method reads there is its launcher's word for the rank more often than not.
_ENVIRONMENT = frozenset({"environ", "getenv"})
# Functions of Python that make a number of numbers, or count things.
_ARITHMETIC = tuple(f"builtins.{name}" for name in ("abs", "int", "len", "max", "min", "round", "set", "sum"))
_DEEPEST = 6
_SHARING = RANKS | {RankValue.WORLD_SIZE}


class RankParts:
    """Goes back from values to the ranks that have a part in them."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._ranked: dict[int, bool] = {}

    def differs(self, value: Expression) -> bool:
        """Whether a number is made from the rank, so that each rank has its own; not where the ranks exchange it."""
        return any(self._is_rank(piece) for piece in self.pieces(value))

    def computes(self, number: Expression, depth: int = 0) -> bool:
        """Whether a number certainly is computed from the rank: by arithmetic, or as the length of what the rank picks.

        Not where the ranks exchange it.
        """
        if depth > _DEEPEST:
            return False
        if any(self._project.rank_values.certainly(number, kind) for kind in RANKS):
            return True
        if isinstance(number, Operation):
            return any(self.computes(operand, depth + 1) for operand in number.operands)
        if isinstance(number, Subscript):
            return self.computes(number.index, depth + 1)
        if isinstance(number, Call):
            plain = self._project.certainly(number.callee, *_ARITHMETIC)
            return plain and any(self.computes(given.value, depth + 1) for given in number.arguments)
        if not isinstance(number, Name) or self._project.exchanges.agree_on(number):
            return False
        bindings = reaching(number.id, number) or []
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGNMENT else None
        return value is not None and not bindings[0].path and self.computes(value, depth + 1)

    def shares(self, value: Expression) -> bool:
        """Whether a value may be a share of its own on each rank: the rank or the world size has a part in it.

        Also where a class of the project that has a part in it reads them anywhere in its methods.
        """
        return any(self._may_share(piece) for piece in self.pieces(value))

    def reads_rank(self, cls: Class) -> bool:
        """Whether a class of the project, or what its methods run, asks for the rank or the world size."""
        if id(cls) not in self._ranked:
            self._ranked[id(cls)] = False  # what a class that makes itself gets
            methods = [method for heir in self._project.resolver.lineage(cls) for method in heir.methods.values()]
            self._ranked[id(cls)] = any(self._asks(method) for method in methods)
        return self._ranked[id(cls)]

    def pieces(self, value: Expression) -> Iterator[Expression]:
        """Yield the expressions that have a part in a value; tests, options and devices are not looked into."""
        return (piece for piece, _ in self._project.dependence.pieces(value, stop=lambda piece, _: self._is_end(piece)))

    def _is_end(self, piece: Expression) -> bool:
        if isinstance(piece, Comparison | Not):
            return True
        if isinstance(piece, Call):
            return self._project.exchanges.gives(piece) or bool(_DEVICE.fullmatch(last_name(piece)))
        if isinstance(piece, Name) and self._project.exchanges.agree_on(piece):
            return True
        if isinstance(piece, Attribute) and _OPTIONS.fullmatch(last_name(piece.base)):
            return True
        return bool(_OPTIONS.fullmatch(last_name(piece)) or _DEVICE.fullmatch(last_name(piece)))

    def _is_rank(self, piece: Expression) -> bool:
        if not isinstance(piece, Name | Attribute | Call | Subscript) or _DEVICE.fullmatch(last_name(piece)):
            return False
        kinds = self._project.rank_values.kinds(piece)
        if kinds != {None}:
            return not kinds.isdisjoint(RANKS)
        row = row_by_name(last_name(piece))
        return row is not None and len(set(row)) > 1 and not any(isinstance(held, bool) for held in row)

    def _may_share(self, piece: Expression) -> bool:
        if self._is_rank(piece) or not self._project.rank_values.kinds(piece).isdisjoint(_SHARING):
            return True
        words = [last_name(piece)]
        if isinstance(piece, Call):
            words += [given.keyword or "" for given in piece.arguments]
            if any(self.reads_rank(cls) for cls in self._project.resolver.classes(piece.callee)):
                return True
        if isinstance(piece, Constant) and isinstance(piece.value, str):
            words.append(piece.value if piece.value.isupper() else "")
        return any(map(_SHARES.search, words))

    def _asks(self, function: Function) -> bool:
        """Whether a function, or what it runs, asks for the rank or the world size."""
        script = function.script
        words = [read.id for read in script.names if read.region.within(function.region)]
        words += [read.name for read in script.attributes if read.region.within(function.region)]
        words += [parameter.name for parameter in function.parameters]
        if any(_SHARES.search(word) or _is_number(word) or word in _ENVIRONMENT for word in words):
            return True
        calls = self._project.reach.onward(self._project.reach.calls_in(function.outermost))
        return any(not self._project.rank_values.kinds(call).isdisjoint(_SHARING) for call in calls)


def _is_number(word: str) -> bool:
    """Whether a name says that it holds the number of the process."""
    row = row_by_name(word)
    return row is not None and len(set(row)) > 1 and not _DEVICE.fullmatch(word)
