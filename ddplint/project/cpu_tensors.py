"""Tensors on the CPU that are given to collectives of a backend that takes tensors on GPUs only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Comprehension, Constant, Expression, Operation, Script
from ddplint.semantics import Sequence as Display
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.resolve import Origin

if TYPE_CHECKING:
    from ddplint.project.project import Project

_INIT = "torch.distributed.init_process_group"
# Functions of torch that make a tensor on the default device.
_FACTORIES = frozenset(
    f"torch.{name}"
    for name in ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "zeros")
)
# These put a tensor where the data is, if that is a tensor.
_COPIES = frozenset({"torch.tensor", "torch.as_tensor"})
_LEGACY = frozenset(
    f"torch.{kind}Tensor" for kind in ("", "Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Bool")
) | {"torch.from_numpy"}
_PLAIN = frozenset(
    {"builtins.len", "builtins.float", "builtins.int", "builtins.bool", "time.time", "time.perf_counter"}
)
# Methods whose result is where their tensor is.
_STAY = frozenset(
    {"bool", "clone", "contiguous", "detach", "double", "fill_", "flatten", "float", "half", "int", "long", "mean"}
    | {"reshape", "squeeze", "sum", "unsqueeze", "view", "zero_", "share_memory_"}
)
# By these a program decides where tensors are made.
_DEFAULTS = (b"set_default_device", b"set_default_tensor_type", b"with torch.device")
# What a test asks for where it may keep a collective from such tensors.
_CHOICES = frozenset({"backend", "cpu", "gloo", "get_backend", "is_available", "is_cuda", "device", "use_cuda", "cuda"})
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class CpuTensor:
    """A tensor on the CPU that comes to a collective.

    ``maker``: the call that makes it. ``call``: what it is given to, in the same file: the collective, or a function
    that hands it on. ``always``: no run of the program has another backend.
    """

    maker: Call
    call: Call
    always: bool


class CpuTensors:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[CpuTensor]:
        """Yield the tensors on the CPU that a script gives to NCCL, each by the first call that gets it.

        Nothing is known where a collective is given a group, or where the backend is, or may be, another one.
        """
        always = self._takes_gpus_only(script)
        if always is None or self._project.mentions(script, _DEFAULTS):
            return
        told: set[int] = set()
        for call in script.calls:
            makers = (self.maker(value) for value in self._given(call))
            maker = next(filter(None, makers), None)
            if maker is not None and maker.scope.script is script and id(maker) not in told:
                told.add(id(maker))
                yield CpuTensor(maker, call, always)

    def maker(self, tensor: Expression) -> Call | None:
        """Return a call that makes a tensor on the CPU, None unless nothing else can have made it.

        Of a list, each item has to be one.
        """
        makers = [self._of_origin(origin, 0) for origin in self._project.origins(tensor)]
        return makers[0] if makers and None not in makers else None

    def takes_device(self, maker: Call) -> bool:
        """Whether a call that makes a tensor can be told where."""
        return self._project.certainly(maker.callee, *_FACTORIES, *_COPIES)

    def _of_origin(self, origin: Origin, depth: int) -> Call | None:
        if isinstance(origin, Comprehension) and len(origin.elements) == 1:
            return self.maker(origin.elements[0])
        if isinstance(origin, Display) and origin.items:
            makers = [self.maker(item) for item in origin.items]
            return makers[0] if None not in makers else None
        if not isinstance(origin, Call) or depth > _DEEPEST:
            return None
        names, callee = self._project.names(origin.callee), origin.callee
        if isinstance(callee, Attribute) and callee.name == "cpu" and not origin.arguments:
            return origin
        if names <= _LEGACY or (names <= _FACTORIES and self._is_left_open(origin)):
            return origin
        if names <= _COPIES and self._is_left_open(origin) and origin.arguments:
            return origin if self._is_plain(origin.arguments[0].value) else None
        if isinstance(callee, Attribute) and callee.name in _STAY:
            makers = [self._of_origin(base, depth + 1) for base in self._project.origins(callee.base)]
            return makers[0] if makers and None not in makers else None
        return None

    def _is_left_open(self, made: Call) -> bool:
        """Whether a call certainly does not say where the tensor is to be."""
        return not any(given.star == "**" for given in made.arguments) and not any(
            given.keyword == "device" for given in made.arguments
        )

    def _is_plain(self, data: Expression) -> bool:
        """Whether data certainly is no tensor: numbers, and lists."""
        if isinstance(data, Constant | Display | Comprehension):
            return True
        if isinstance(data, Call):
            return self._project.certainly(data.callee, *_PLAIN)
        return isinstance(data, Operation) and all(map(self._is_plain, data.operands))

    def _given(self, call: Call) -> Iterator[Expression]:
        """Yield the tensors that a call gives to a collective of the whole group, whatever the device is."""
        for found in self._project.collective_inputs.of(call):
            if not self._project.collectives.is_of_some(found.collective) and not any(map(_is_chosen, found.path)):
                yield found.value

    def _takes_gpus_only(self, script: Script) -> bool | None:
        """Return whether every run has NCCL, False: some have, None: it is not known that any has."""
        found: set[object] = set()
        for path in self._project.program_of(script):
            other = self._project.script(path) if b"init_process_group" in self._project.files.content(path) else None
            for start in self._project.calls(other, _INIT) if other is not None else ():
                backend = self._project.argument(start, "backend")
                known = None if isinstance(backend, Missing) else self._backends(backend)
                if known is None:
                    return None
                found |= known
        return found == {"nccl"} if "nccl" in found else None

    def _backends(self, backend: Expression) -> frozenset[object] | None:
        """Return the backends that can be meant; that of an option is its default."""
        constants = self._project.constants(backend)
        if constants is not None:
            return frozenset(str(one).lower() for one in constants)
        option = self._project.options.of(backend)
        default = None if option is None or option.default is None else self._project.constants(option.default)
        return None if default is None else default | {"of an option"}


def _is_chosen(call: Call) -> bool:
    """Whether a test on the way to a call may ask for the backend or the device."""
    tests = [region.test for region in call.region.chain() if region.test is not None]
    return any(last_name(part) in _CHOICES for test in tests for part in test.walk())
