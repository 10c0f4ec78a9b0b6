"""Whether a value, such as a path, is the same on all ranks, or tells the ranks apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from ddplint.project.frames import Frame
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Sequence, Subscript
from ddplint.semantics.expressions import last_name
from ddplint.semantics.rank_values import RANKS
from ddplint.semantics.reaching import reaching
from ddplint.semantics.speech import names_one_process
from ddplint.semantics.structure import Binding, BindingKind

if TYPE_CHECKING:
    from ddplint.project.project import Project


class Sameness(IntEnum):
    """How a value on one rank goes with that on another; what is made of several values is like the greatest."""

    SAME = 0  # or nothing is known that makes a difference
    CLOCK = 1  # the same when the ranks are equally fast
    OWN = 2  # each rank has its own


_Piece: TypeAlias = tuple[Expression, Frame | None]
_OWN_CALLS = re.compile(
    r"^(?:uuid|tempfile\.(?!gettempdir)|random|secrets|numpy\.random|os\.getpid|os\.urandom|os\.uname|socket\.|platform\.node"
    r"|torch\.rand|torch\.cuda\.current_device|torch\.cuda\.get_device|wandb\.|mlflow\.|io\.BytesIO|io\.StringIO"
    r"|builtins\.hash$|builtins\.id$)"
)
_CLOCK_CALLS = re.compile(r"^(?:time|datetime)\.")
_DRAWS = re.compile(
    r"^(?:uuid\.uuid[14]$|secrets\.token|os\.urandom$|time\.(?:time|time_ns|localtime|strftime|ctime|asctime)$"
    r"|datetime\.datetime\.(?:now|utcnow|today)$)"
)
# Fields of a format that tell one second from the next.
_SECONDS = re.compile(r"%-?[SsfcXTr+]")
# What comes from a rank's own share of the data, or was measured on it.
_DATA = re.compile(r"loader|(?:^|_)batch(?:es)?$|(?:^|_)(?:images?|imgs?|samples?|sample_ids?|img_names?)$")
_MEASURED = re.compile(
    r"(?:^|_)(?:loss|acc|accuracy|score|metric|error|err|psnr|ssim|m?ap|m?iou|auc|f1|ppl|perplexity|prec\d?|top\d|wer"
    r"|bleu|reward)(?:\d|_|$)",
    re.IGNORECASE,
)
# Objects that a run of a tracker belongs to: what they know is known to one process.
_OF_RUN = re.compile(r"writer$|^run$|^wandb|(?:^|_)logger$")
_PARTS_OF_PATHS = frozenset({"parent", "name", "stem", "suffix", "parents", "parts"})
_COUNTS = frozenset({"builtins.range", "itertools.count", "tqdm.trange", "tqdm.auto.trange"})
_MOST = 300


class SameValues:
    """Goes back from a value to what makes it differ between ranks."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, value: Expression, frame: Frame | None = None) -> Sameness:
        """Return how a value goes with that of the other ranks; ``frame``: how the function around it is run."""
        found = Sameness.SAME
        for piece in self._pieces(value, frame):
            found = max(found, self._itself(piece))
            if found is Sameness.OWN:
                break
        return found

    def drawn(self, value: Expression) -> tuple[Call, ...]:
        """Return the calls that draw a part of a value by chance or from the clock, each rank for itself.

        Nothing where something else tells the ranks apart, where the ranks exchange a part of it, and where the clock
        is read to the minute only.
        """
        found: list[Call] = []
        for piece in self._pieces(value, None):
            if isinstance(piece, Name | Attribute) and self._project.exchanges.touch(piece):
                return ()
            if isinstance(piece, Call) and any(map(_DRAWS.match, self._project.names(piece.callee))):
                found.append(piece)
            elif self._itself(piece) is Sameness.OWN or _is_coarse(piece):
                return ()
        return () if any(map(_is_coarse, found)) else tuple(found)

    def _pieces(self, value: Expression, frame: Frame | None) -> Iterator[Expression]:
        """Yield a value and everything that it is made of."""
        seen: set[tuple[int, Frame | None]] = set()
        pending: list[_Piece] = [(value, frame)]
        while pending and len(seen) < _MOST:
            piece = pending.pop()
            if (id(piece[0]), piece[1]) not in seen:
                seen.add((id(piece[0]), piece[1]))
                yield piece[0]
                pending.extend(self._below(*piece))

    def _itself(self, piece: Expression) -> Sameness:
        """How an expression makes a difference by what it is, whatever it is made of."""
        if isinstance(piece, Constant | Subscript):
            key = piece.index if isinstance(piece, Subscript) else piece
            text = key.value if isinstance(key, Constant) else None
            by_key = isinstance(piece, Subscript) and isinstance(text, str) and names_one_process(text)
            return Sameness.OWN if by_key or text in ("RANK", "LOCAL_RANK", "SLURM_PROCID") else Sameness.SAME
        if isinstance(piece, Call):
            return self._of_call(piece)
        if not isinstance(piece, Name | Attribute):
            return Sameness.SAME
        word = last_name(piece)
        if names_one_process(word) or _DATA.search(word) or _MEASURED.search(word):
            return Sameness.OWN
        if isinstance(piece, Attribute) and _OF_RUN.search(last_name(piece.base)):
            return Sameness.OWN
        return Sameness.OWN if self._project.rank_values.kinds(piece) & RANKS else Sameness.SAME

    def _of_call(self, call: Call) -> Sameness:
        names = self._project.names(call.callee)
        if any(map(_OWN_CALLS.match, names)) or self._project.rank_values.kinds(call) & RANKS:
            return Sameness.OWN
        if names_one_process(last_name(call.callee)) and self._project.resolver.function_of(call) is None:
            return Sameness.OWN
        return Sameness.CLOCK if any(map(_CLOCK_CALLS.match, names)) else Sameness.SAME

    def _below(self, piece: Expression, frame: Frame | None) -> Iterator[_Piece]:
        """Yield what an expression is directly made of."""
        if isinstance(piece, Name):
            for binding in reaching(piece.id, piece) or ():
                inside = frame if binding.region.scope.function is piece.scope.function else None
                yield from self._of_binding(piece, binding, inside)
        elif isinstance(piece, Attribute):
            stores = list(self._project.resolver.stores_of(piece))
            yield from ((store.value, None) for store in stores if store.value is not None)
            if isinstance(piece.base, Call | Subscript) or (not stores and piece.name in _PARTS_OF_PATHS):
                yield piece.base, frame
        elif isinstance(piece, Call):
            yield from self._made_by(piece, frame)
        elif isinstance(piece, Subscript):
            yield from ((child, frame) for child in piece.children if not isinstance(child, Attribute))
        else:
            yield from ((child, frame) for child in piece.children)

    def _made_by(self, call: Call, frame: Frame | None) -> Iterator[_Piece]:
        inside = self._project.frames.enter(call, frame)
        if inside is not None and inside.function.returns and inside.function.name != "__init__":
            yield from ((value, inside) for value in inside.function.returns)
            return
        if isinstance(call.callee, Attribute):
            yield call.callee.base, frame
        yield from ((given.value, frame) for given in call.arguments)

    def _of_binding(self, name: Name, binding: Binding, frame: Frame | None) -> Iterator[_Piece]:
        if binding.parameter is not None:
            given = self._project.frames.given(binding.parameter, frame)
            if given is not None:
                yield given
            elif frame is None:
                yield from self._from_callers(binding)
        elif binding.kind is BindingKind.IMPORT:
            origins = self._project.origins(name)
            yield from ((origin, None) for origin in origins if isinstance(origin, Expression))
        elif binding.value is not None and not self._is_count(binding):
            yield _unpacked(binding.value, binding.path), frame

    def _from_callers(self, binding: Binding) -> Iterator[_Piece]:
        parameter = binding.parameter
        if parameter is None or (parameter.function.cls is not None and parameter.index == 0):
            return
        for call in self._project.callers(parameter.function)[0]:
            value = self._project.resolver.bound(call, parameter.function).get(parameter.name, parameter.default)
            if value is not None:
                yield value, None

    def _is_count(self, binding: Binding) -> bool:
        """Whether a loop counts: the count says nothing of what is counted."""
        value = binding.value
        if binding.kind is not BindingKind.LOOP or not isinstance(value, Call):
            return False
        names = self._project.names(value.callee)
        return bool(names & _COUNTS) or ("builtins.enumerate" in names and binding.path[:1] == (0,))


def _unpacked(value: Expression, path: tuple[int | None, ...]) -> Expression:
    """Return the item of a display that ``a, b = c, d`` gives a name, or the display where that can't be said."""
    for index in path:
        if index is None or not isinstance(value, Sequence) or not -len(value.items) <= index < len(value.items):
            return value
        value = value.items[index]
    return value


def _is_coarse(piece: Expression) -> bool:
    """Whether a time is written without its seconds, so that the ranks get the same nearly always."""
    if not isinstance(piece, Call) or last_name(piece.callee) != "strftime":
        return False
    texts = [given.value.value for given in piece.arguments if isinstance(given.value, Constant)]
    return any(isinstance(text, str) and not _SECONDS.search(text) for text in texts)
