"""Which GPU a script means by a number that is written into the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Script, Sequence
from ddplint.semantics.arguments import Missing
from ddplint.semantics.environment import environment_writes
from ddplint.semantics.names import LOCAL

if TYPE_CHECKING:
    from ddplint.project.project import Project

_WRAP = "torch.nn.parallel.DistributedDataParallel"
_SET = frozenset({"torch.cuda.set_device", "torch.cuda.device"})
_DEVICE = "torch.device"
_MOVES = frozenset({"cuda", "to"})
_NUMBERED = re.compile(r"cuda:(\d+)")
_ASKS = re.compile(r"torch\.(?:cuda|accelerator|version)\.").match  # functions that ask a device rather than work on it
_NO_GPU = frozenset({"cpu", "mps"})
_DEEPEST = 4
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class FixedDevice:
    """A GPU that a call works on, whoever makes it; ``maker`` is the constant that says which."""

    number: int
    maker: Expression
    call: Call


class FixedDevices:
    """Finds the GPUs that are written into scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[FixedDevice]:
        """Yield each use of a GPU that can be no other one, in source order."""
        for call in script.calls:
            for value in self._values(call):
                fixed = self._number(value)
                if fixed is not None:
                    yield FixedDevice(*fixed, call)

    def are_own(self, script: Script) -> bool:
        """Whether the program lets each process see GPUs of its own, of which every one sees a first."""
        if not self._project.mentions(script, [_VISIBLE.encode()]):
            return False
        others = map(self._project.script, self._project.program_of(script))
        return any(
            self._project.constants(write.value) is None
            for one in (script, *others)
            if one is not None
            for write in environment_writes(self._project.resolver, one, _VISIBLE)
        )

    def _values(self, call: Call) -> Iterator[Expression]:
        """Yield what a call is given as its device."""
        names = self._project.names(call.callee)
        given = [argument.value for argument in call.arguments if argument.keyword in (None, "device")]
        if names <= _SET or (names != {_DEVICE} and self._moves(call)):
            yield from given[:1]
        elif names == {_WRAP}:
            yield from self._of_wrap(call)
        elif names != {_DEVICE} and all(name.startswith("torch.") and not _ASKS(name) for name in names):
            keywords = ("device", "map_location")
            yield from (argument.value for argument in call.arguments if argument.keyword in keywords)

    def _moves(self, call: Call) -> bool:
        """Whether a call is a method of a tensor or a module, as far as its name says."""
        if not isinstance(call.callee, Attribute) or call.callee.name not in _MOVES:
            return False
        is_own = any(name.startswith(LOCAL) for name in self._project.names(call.callee))
        return not is_own and self._project.resolver.function_of(call) is None

    def _of_wrap(self, call: Call) -> Iterator[Expression]:
        ids = self._project.argument(call, "device_ids")
        if not isinstance(ids, Missing):
            lists = [origin for origin in self._project.origins(ids) if isinstance(origin, Sequence)]
            yield from (one.items[0] for one in lists[:1] if len(one.items) == 1)

    def _number(self, value: Expression, depth: int = 0) -> tuple[int, Expression] | None:
        """Return the number of the GPU that a device always is, and where it is written; else it may be the CPU."""
        found: dict[int, Expression] = {}
        for origin in self._project.origins(value):
            device = self._of_origin(origin, depth + 1) if depth < _DEEPEST else None
            if device is None:
                return None
            number, maker = device
            if number >= 0:
                found.setdefault(number, maker)
        return next(iter(found.items())) if len(found) == 1 else None

    def _of_origin(self, origin: object, depth: int) -> tuple[int, Expression] | None:
        """Return the number of a GPU, -1 for the CPU, and where it is written; None where there is no telling."""
        if isinstance(origin, Constant):
            number = _of_constant(origin.value)
            return None if number is None else (number, origin)
        if not isinstance(origin, Call) or self._project.names(origin.callee) != {_DEVICE} or not origin.arguments:
            return None
        kind, *index = (argument.value for argument in origin.arguments)
        kinds = self._project.constants(kind)
        if kinds is not None and kinds <= _NO_GPU:
            return -1, kind
        if not index:
            return self._number(kind, depth)
        return self._number(index[0], depth) if kinds == frozenset[object]({"cuda"}) else None


def _of_constant(value: object) -> int | None:
    if type(value) is int:
        return value if value >= 0 else None
    if not isinstance(value, str):
        return None
    match = _NUMBERED.fullmatch(value)
    return int(match[1]) if match else -1 if value in _NO_GPU else None
