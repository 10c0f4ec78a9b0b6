"""Lines that are printed or logged: whether they name their process, and whether the process is about to fail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ddplint.semantics.expressions import (
    Attribute,
    Call,
    Constant,
    Expression,
    FormattedText,
    Name,
    Operation,
    last_name,
)
from ddplint.semantics.rank_values import RANKS, RankValues
from ddplint.semantics.ranks import names_rank
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Origin, Resolver
from ddplint.semantics.structure import BindingKind, ExitKind, Region

_PROCESS = re.compile(
    r"(?:^|_)(?:gpu|gpus|gpu_?ids?|device|device_?ids?|cuda|node|host|hostname|pid|proc)(?:_|$)|getpid|gethostname"
)
_SAID = re.compile(r"\brank\b|\bgpu\b|\bdevice\b|\bprocess\b|\bnode\b|\bworker\b", re.IGNORECASE)
_ERROR = re.compile(r"^\W*error\b|\bexception\b|\babort|\bfail(?:ed|ure)\b", re.IGNORECASE)
_EXITS = frozenset({"exit", "quit", "_exit", "abort"})


def names_process(call: Call) -> bool:
    """Whether the text of a line says, by its words, which process it comes from: its rank, its device, its host."""
    parts = [part for given in call.arguments for part in given.value.walk()]
    if any(names_one_process(part.id if isinstance(part, Name) else part.name) for part in _names(parts)):
        return True
    return len(parts) > 1 and any(map(_SAID.search, _texts(parts)))


def holds_rank(call: Call, values: RankValues, resolver: Resolver) -> bool:
    """Whether a value in the text of a line is the rank, under whatever name, or a text or a number made with it."""
    parts = _names(part for given in call.arguments for part in given.value.walk())
    made = [piece for part in parts for origin in resolver.origins(part) for piece in _pieces(origin)]
    return any(RANKS & values.kinds(part) for part in (*parts, *made))


def _pieces(origin: Origin) -> Iterator[Expression]:
    """Yield what a text or a number is put together from."""
    replaced = isinstance(origin, Call) and last_name(origin.callee) in ("replace", "format")
    if isinstance(origin, Operation | FormattedText) or (replaced and isinstance(origin, Expression)):
        yield from origin.walk()


def _names(parts: Iterable[Expression]) -> list[Name | Attribute]:
    return [part for part in parts if isinstance(part, Name | Attribute)]


def names_one_process(name: str) -> bool:
    """Whether a name stands for one process; ``mean_over_ranks`` does not."""
    return (names_rank(name) and not name.lower().endswith("ranks")) or bool(_PROCESS.search(name.lower()))


def _texts(parts: Iterable[Expression]) -> Iterator[str]:
    """Yield the words that a line is made of."""
    for part in parts:
        pieces = [part.value] if isinstance(part, Constant) else part.pieces if isinstance(part, FormattedText) else ()
        yield from (piece for piece in pieces if isinstance(piece, str))


def hands_text_on(call: Call) -> bool:
    """Whether a line says only what the callers of its function say: a print function of the script's own."""
    values = [given.value for given in call.arguments if given.keyword is None]
    return bool(values) and all(map(_is_given, values))


def _is_given(value: Expression) -> bool:
    if not isinstance(value, Name):
        return False
    bindings = reaching(value.id, value) or ()
    return any(binding.kind is BindingKind.PARAMETER for binding in bindings)


def precedes_failure(call: Call) -> bool:
    """Whether a line tells of an error, or the process raises or exits after it, in the same block."""
    script = call.scope.script
    if any(map(_ERROR.search, _texts(part for given in call.arguments for part in given.value.walk()))):
        return True
    raises = (leave for leave in script.exits if leave.kind is ExitKind.RAISE)
    if any(leave.order > call.order and _in_same_block(leave.region, call) for leave in raises):
        return True
    ends = (other for other in script.calls if last_name(other.callee) in _EXITS)
    return any(end.order > call.order and _in_same_block(end.region, call) for end in ends)


def _in_same_block(region: Region, call: Call) -> bool:
    return call.region.within(region) and region.scope is call.scope and region.test is not None


def is_whole_statement(call: Call) -> bool:
    """Whether a call is a statement of its own, its value unused."""
    line = call.statement.node
    small = getattr(line, "body", ())
    alone = small[0] if isinstance(small, tuple | list) and len(small) == 1 else line
    return getattr(alone, "value", None) is call.node and type(alone).__name__ == "Expr"
