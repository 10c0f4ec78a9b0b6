"""Where a script says by a number which GPU it means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, FormattedText, Name, Script, Sequence
from ddplint.semantics.arguments import Missing
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.reaching import reaching

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

    def chosen_before(self, at: Expression) -> Name | None:
        """Return the name of the local rank by which a process certainly chose its GPU before it comes to a place.

        The name has the same value there.
        """
        for use in self.of(at.scope.script):
            is_before = use.call.order < at.order and at.region.within(use.call.region)
            if not is_before or use.call.scope is not at.scope or not isinstance(use.index, Name):
                continue
            is_local = self._project.rank_values.certainly(use.index, RankValue.LOCAL)
            if is_local and "torch.cuda.set_device" in self._project.names(use.call.callee):
                return use.index if reaching(use.index.id, at) == reaching(use.index.id, use.index) else None
        return None

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
