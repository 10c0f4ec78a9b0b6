"""Ports that are written into the code only for the case that nobody gives one, or that one process runs alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.project.rendezvous import MeetingPort
from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Name, Not, Script, Sequence, Subscript
from ddplint.semantics.arguments import argument
from ddplint.semantics.environment import environment_writes
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Binding, Function, Region, RegionKind, Store

_ADDRESS = re.compile(r"(?:^|_)(?:port|url|addr|address|init_method)(?:_|$)", re.IGNORECASE)
_ADDRESS_VARIABLES = frozenset({"MASTER_PORT", "MASTER_ADDR"})
_WORLD = re.compile(
    r"world_?size|n_?procs|num_?(?:gpus|processes|procs|tasks)|n_?(?:gpus?|tasks)(?:$|_)|device_count", re.IGNORECASE
)
_DISTRIBUTED = re.compile(r"distributed|multi_?gpu|ddp", re.IGNORECASE)
# (operator, number, outcome): what a comparison of the world size says when one process is meant.
_ALONE = frozenset(
    {("==", 1, True), ("<=", 1, True), ("<", 2, True), (">", 1, False), ("!=", 1, False), (">=", 2, False)}
)


class PortFallbacks:
    """Tells ports that are a way out from those that every run uses."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def is_one(self, port: MeetingPort) -> bool:
        """Whether something may have been asked for another port first, or one process runs alone with this one."""
        regions = [port.at.region, port.maker.region]
        functions = {id(region.scope.function): region.scope.function for region in regions}
        return (
            any(is_guarded(region) for region in regions)
            or any(function is not None and self._is_called_under_guard(function) for function in functions.values())
            or any(self._is_alone(region) for region in regions)
        )

    def _is_called_under_guard(self, function: Function) -> bool:
        """Whether the file itself runs a function, and only where a way out is taken."""
        named = (call for call in function.script.calls if _last_name(call) == function.name)
        calls = [call for call in named if self._resolver.function_of(call) is function]
        callees = {id(call.callee) for call in calls}
        handed_on = any(read.id == function.name and id(read) not in callees for read in function.script.names)
        return bool(calls) and not handed_on and all(is_guarded(call.region) for call in calls)

    def _is_alone(self, region: Region) -> bool:
        """Whether the block of a region says that the world is one process."""
        script = region.scope.script
        writes = environment_writes(self._resolver, script, "WORLD_SIZE")
        sizes = [*_sizes_set(region), *(write.value for write in writes if write.at.region is region)]
        return any(_is_one(size) for size in sizes) or self._starts_alone(script, region)

    def _starts_alone(self, script: Script, region: Region) -> bool:
        """Whether the process group that the code around a region makes has one member."""
        for call in script.calls:
            if call.region.scope is region.scope and _last_name(call.callee) == "init_process_group":
                size = argument(self._resolver, call, "world_size")
                if isinstance(size, Expression) and _is_set_to_one(size):
                    return True
        return False


def is_guarded(region: Region) -> bool:
    """Whether the code of a region runs on an error, for a single process, or where an address was asked for first."""
    return any(outer.kind is RegionKind.HANDLER or _is_way_out(outer) for outer in region.chain())


def _is_way_out(region: Region) -> bool:
    if region.kind is not RegionKind.BRANCH or region.test is None:
        return False
    return any(_names_address(part) for part in region.test.walk()) or _means_alone(region.test, region.holds)


def _names_address(part: Expression) -> bool:
    if isinstance(part, Constant):
        return part.value in _ADDRESS_VARIABLES if isinstance(part.value, str) else False
    return bool(_ADDRESS.search(_last_name(part)))


def _means_alone(test: Expression, holds: bool) -> bool:
    if isinstance(test, Not):
        return _means_alone(test.operand, not holds)
    if isinstance(test, (Name, Attribute)):
        return not holds and bool(_DISTRIBUTED.search(_last_name(test)))
    if not isinstance(test, Comparison) or len(test.comparisons) != 1:
        return False
    operator, right = test.comparisons[0]
    number = right.value if isinstance(right, Constant) else None
    return (operator, number, holds) in _ALONE and any(_names_world(part) for part in test.left.walk())


def _names_world(part: Expression) -> bool:
    if isinstance(part, Constant):
        return part.value in ("WORLD_SIZE", "SLURM_NTASKS")
    return bool(_WORLD.search(_last_name(part)))


def _sizes_set(region: Region) -> Iterator[Expression | None]:
    """Yield the values that the block of a region gives to variables and attributes that hold the world size."""
    for name, bindings in region.scope.bindings.items():
        if _WORLD.search(name):
            yield from (_part(binding) for binding in bindings if binding.region is region)
    for store in region.scope.script.stores:
        if store.name is not None and store.region is region and _WORLD.search(store.name):
            yield _part(store)


def _part(target: Binding | Store) -> Expression | None:
    """Return what a target takes out of the value on the right side, where that is written out."""
    value = target.value
    for index in target.path:
        items = value.items if isinstance(value, Sequence) else ()
        value = items[index] if index is not None and -len(items) <= index < len(items) else None
    return value


def _is_set_to_one(size: Expression) -> bool:
    """Whether a value is one, or a variable that got nothing else. Who calls the function is not asked: that costs."""
    bindings = reaching(size.id, size) if isinstance(size, Name) else None
    return all(_is_one(_part(binding)) for binding in bindings) if bindings else _is_one(size)


def _is_one(value: object) -> bool:
    return isinstance(value, Constant) and value.value in (1, "1") and value.value is not True


def _last_name(part: Expression) -> str:
    if isinstance(part, Name):
        return part.id
    if isinstance(part, Call):
        return _last_name(part.callee)
    return part.name if isinstance(part, Attribute) else _last_name(part.base) if isinstance(part, Subscript) else ""
