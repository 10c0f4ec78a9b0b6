"""Where a script says by a number which GPU it means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, FormattedText, Script, Sequence
from ddplint.semantics.arguments import Missing

if TYPE_CHECKING:
    from ddplint.project.project import Project

_SET = frozenset({"torch.cuda.set_device", "torch.cuda.device"})
_DEVICE = "torch.device"
_WRAP = "torch.nn.parallel.DistributedDataParallel"
# Methods of tensors and modules that take a device.
_MOVES = frozenset({"cuda", "to"})


@dataclass(frozen=True, slots=True)
class DeviceIndex:
    """The expression of an index, and the call that it is given to."""

    index: Expression
    call: Call


class Devices:
    """Finds the device indices of scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[DeviceIndex]:
        """Yield the indices in source order: of set_device, ``torch.device``, ``cuda``, ``to`` and device_ids."""
        for call in script.calls:
            for index in self._indices(call):
                yield DeviceIndex(index, call)

    def _indices(self, call: Call) -> Iterator[Expression]:
        names = self._project.names(call.callee)
        values = [given.value for given in call.arguments if given.keyword in (None, "device")]
        if names <= _SET:
            yield from self._numbers(values[:1])
        elif names == {_DEVICE}:
            yield from self._numbers(values[1:2] or values[:1])
        elif names == {_WRAP}:
            yield from self._of_wrap(call)
        elif self._moves(call):
            yield from self._numbers(values[:1])

    def _moves(self, call: Call) -> bool:
        """Whether a call is a method of a tensor or a module, as far as its name says."""
        if not isinstance(call.callee, Attribute) or call.callee.name not in _MOVES:
            return False
        return self._project.resolver.function_of(call) is None

    def _of_wrap(self, call: Call) -> Iterator[Expression]:
        for name in ("device_ids", "output_device"):
            given = self._project.argument(call, name)
            if not isinstance(given, Missing):
                yield from self._numbers(given.items if isinstance(given, Sequence) else (given,))

    def _numbers(self, values: list[Expression] | tuple[Expression, ...]) -> Iterator[Expression]:
        """Yield the numbers among devices, also those in ``f"cuda:{index}"``."""
        for value in values:
            if isinstance(value, FormattedText):
                yield from value.children[:1]
            elif not isinstance(value, Constant):
                yield value
