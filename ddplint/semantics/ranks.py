"""Which ranks run a line: tests that ask for the rank, and the code that such tests guard.

A test asks for the rank when it reads something that carries the rank: by the conventions of the field (``rank``,
``local_rank``, ``is_main_process()``, ``master``), from the environment, from a helper that returns such a test, or
from a name or an attribute that was set under such a test. ``world_size``, ``is_initialized()`` and the epoch are the
same on all ranks and don't count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.semantics.expressions import (
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
from ddplint.semantics.rank_values import RankValue, RankValues
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Region, RegionKind

_RANK = re.compile(
    r"(?:^|_)(?:rank|ranks|rank0|rankzero|master|primary|chief|leader|zero_rank|proc_id|procid|process_index)(?:_|$|\d)"
    r"|is_?main(?=$|\d|_?(?:proc|rank|node|gpu|worker|device|host|thread))|main_?process|main_?node|is_?root"
    r"|(?:local|global|world|node)_?rank|is_?master|rank_?zero|(?:global|process)_?zero|(?:first|last)_process"
)
_NOT_RANK = re.compile(
    r"world_size|num_ranks|n_ranks|master_(?:addr|port|ip|param|weight|grad|url|host|node_addr|copy)"
    r"|primary_(?:key|metric|caps|loss)|(?:lora|low|full|matrix|tensor|svd|tucker|page|reduced|mean|median|average)_rank"
)
_DEVICE = re.compile(r"(?:^|_)(?:gpu|gpu_id|gpuid|device_id|local_gpu)(?:_|$)")
_CONVERSIONS = frozenset({"int", "bool", "getattr", "getenv", "get", "str", "any", "all"})
_RANKS = frozenset({RankValue.GLOBAL, RankValue.LOCAL})
_HOLDS = frozenset({"in", "not in"})
_DEEPEST = 8


def names_rank(identifier: str) -> bool:
    """Whether a name says, by the conventions of the field, that it carries the rank or a test of it."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", identifier).lower()
    return bool(_RANK.search(word)) and not _NOT_RANK.search(word)


class RankTests:
    """Answers whether tests ask for the rank, and which test guards a line."""

    def __init__(self, resolver: Resolver, values: RankValues) -> None:
        self._resolver = resolver
        self._values = values
        self._known: dict[int, bool] = {}

    def asks_rank(self, test: Expression, depth: int = 0) -> bool:
        """Whether the outcome of a test can differ between ranks because it asks for the rank."""
        known = self._known.get(id(test))
        if known is None:
            self._known[id(test)] = False  # what a test that reads itself gets
            known = depth < _DEEPEST and any(self._carries(part, depth) for part in _parts(test))
            self._known[id(test)] = known
        return known

    def _carries(self, part: Expression, depth: int) -> bool:
        if isinstance(part, Constant):
            return isinstance(part.value, str) and bool(re.search(r"RANK|PROCID", part.value))
        if isinstance(part, Subscript):
            key = part.index.value if isinstance(part.index, Constant) else None
            return isinstance(key, str) and names_rank(key)
        if isinstance(part, Comparison):
            return _compares_device(part) or self._compares_rank(part)
        if isinstance(part, Call):
            function = self._resolver.function_of(part)
            returns = function.returns if function is not None else []
            return any(self.asks_rank(value, depth + 1) for value in returns)
        if isinstance(part, (Name, Attribute)):
            return names_rank(part.id if isinstance(part, Name) else part.name) or self._set_by_rank(part, depth)
        return False

    def _compares_rank(self, test: Comparison) -> bool:
        """Whether a test compares the rank itself, under whatever name; ``is None`` asks for no rank."""
        if any(operator.startswith("is") for operator, _ in test.comparisons):
            return False
        return any(_RANKS & self._values.kinds(side) for side in test.children)

    def _set_by_rank(self, part: Name | Attribute, depth: int) -> bool:
        """Whether a name or an attribute got its value from a rank test or under one."""
        given: list[tuple[Expression | None, Region]] = []
        if isinstance(part, Name):
            given = [(binding.value, binding.region) for binding in reaching(part.id, part) or ()]
        else:
            given = [(store.value, store.region) for store in self._resolver.stores_of(part)]
        return any(
            (value is not None and _is_test(value) and self.asks_rank(value, depth + 1))
            or self.guard(region, depth + 1) is not None
            for value, region in given
        )

    def guard(self, region: Region, depth: int = 0) -> Expression | None:
        """Return the innermost rank test around a region inside its function, None when there is none."""
        return next((test for test, _ in self.guards(region, depth)), None)

    def guards(self, region: Region, depth: int = 0) -> Iterator[tuple[Expression, Region]]:
        """Yield the rank tests around a region inside its function, the innermost first, each with its own region."""
        for outer in region.chain():
            if outer.kind is RegionKind.BRANCH and outer.test is not None and self.asks_rank(outer.test, depth):
                yield outer.test, outer
            for context in outer.contexts:
                if isinstance(context, Call) and names_rank(_identifier(context.callee)):
                    yield context, outer


def _parts(test: Expression) -> Iterator[Expression]:
    """Yield what decides a test: operands of logic, comparisons and conversions, not the arguments of other calls."""
    pending = [test]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Call):
            pending.append(part.callee)
            if _identifier(part.callee) in _CONVERSIONS:
                pending.extend(given.value for given in part.arguments)
        elif isinstance(part, Comparison) and isinstance(part.left, Constant) and part.comparisons[0][0] in _HOLDS:
            pending.extend(right for _, right in part.comparisons)  # whether there is a `RANK` at all is no test of it
        elif isinstance(part, (Logic, Not, Comparison, Conditional, Operation, Subscript, Passed, Assigned)):
            pending.extend(part.children)
        elif isinstance(part, Attribute) and isinstance(part.base, Call):
            pending.append(part.base)


def _is_test(value: Expression) -> bool:
    return isinstance(
        value, (Logic, Not, Comparison, Conditional, Name, Attribute, Call, Constant, Subscript, Operation)
    )


def _compares_device(test: Comparison) -> bool:
    """Whether a test is ``gpu == 0`` in one of its forms: the GPU of a process stands for its local rank."""
    sides = [test.left, *(right for _, right in test.comparisons)]
    number = any(isinstance(side, Constant) and type(side.value) is int for side in sides)
    return number and any(_DEVICE.search(_identifier(side).lower()) for side in sides)


def _identifier(expression: Expression) -> str:
    if isinstance(expression, Name):
        return expression.id
    return expression.name if isinstance(expression, Attribute) else ""
