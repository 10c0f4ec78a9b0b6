"""Whether a model still is where it was made, on the CPU, and what moves a wrapped one to another device or type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Operation, Passed, Sequence
from ddplint.semantics.arguments import Missing
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Imported
from ddplint.semantics.structure import Binding, BindingKind, Class, Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

_TYPES = frozenset({"half", "bfloat16", "double"})
_TYPE_NAMES = frozenset({"torch.float16", "torch.half", "torch.bfloat16", "torch.float64", "torch.double"})
_MOVES = frozenset({"cuda", "to", *_TYPES})
# Methods of a module that leave it where it is.
_LEAVE_IT = frozenset(
    {
        "apply",
        "buffers",
        "children",
        "eval",
        "load_state_dict",
        "modules",
        "named_modules",
        "named_parameters",
        "parameters",
        "requires_grad_",
        "state_dict",
        "train",
    }
)
# Functions beside the layers of torch, which hand on a module that may be anywhere.
_HAND_ON = (
    "torch.nn.utils.",
    "torch.nn.parallel.",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    "torch.nn.DataParallel",
)
_LOOKS = frozenset({"builtins.print", "builtins.isinstance", "builtins.hasattr", "builtins.len", "builtins.repr"})
# What is given to the constructor of a module and is no module: numbers, options such as ``args.width``, classes.
_NO_MODULES = (Constant, Operation, Attribute, Class, Function, Imported)
# By these a program decides where modules are made.
_DEFAULTS = (b"set_default_device", b"set_default_tensor_type", b"with torch.device")

_DEEPEST = 4


class Change(Enum):
    """What a move changes."""

    DEVICE = "device"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Move:
    """A call such as ``wrapped.to(device)``, made on what a call has wrapped."""

    call: Call
    base: Expression
    change: Change


class Placement:
    """Answers for the modules of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def is_untouched(self, module: Expression, depth: int = 0) -> bool:
        """Whether a module certainly is on the CPU: it was made in the project, and nothing can have moved it since."""
        if depth > _DEEPEST or self._project.mentions(module.scope.script, _DEFAULTS):
            return False
        if isinstance(module, Call):
            return self._is_made_untouched(module, depth)
        bindings = reaching(module.id, module) if isinstance(module, Name) else None
        if not bindings or len(bindings) > 1 or bindings[0].path:
            return False
        reads = self._project.uses(module.scope.script).reads(bindings[0])
        return self._comes_untouched(bindings[0], depth) and all(
            self._leaves_it(read) for read in reads if read is not module and read.order < module.order
        )

    def _comes_untouched(self, binding: Binding, depth: int) -> bool:
        """Whether a name gets a module that is on the CPU: made there, or handed in by every caller."""
        if binding.kind is BindingKind.ASSIGNMENT:
            return isinstance(binding.value, Call) and self._is_made_untouched(binding.value, depth)
        if binding.parameter is None:
            return False
        function = binding.parameter.function
        calls, complete = self._project.callers(function)
        given = [self._project.resolver.bound(call, function).get(binding.name) for call in calls]
        return complete and bool(given) and all(one is not None and self.is_untouched(one, depth + 1) for one in given)

    def _is_made_untouched(self, made: Call, depth: int) -> bool:
        """Whether a call makes a module on the CPU, itself or through a function that returns one."""
        function = self._project.resolver.function_of(made)
        if function is None or function.name == "__init__":
            return self._is_made_on_cpu(made)
        return bool(function.returns) and all(self.is_untouched(value, depth + 1) for value in function.returns)

    def moves_of(self, wrap: Call) -> Iterator[Move]:
        """Yield what certainly moves the value of a call, where it is made or under the names that it gets."""
        uses = self._project.uses(wrap.scope.script)
        reads: list[Expression] = [wrap]
        reads += [read for binding in uses.bindings(wrap) if not binding.path for read in uses.reads(binding)]
        for read in reads:
            method = uses.parent(read)
            if not isinstance(method, Attribute) or method.name not in _MOVES:
                continue
            call = uses.parent(method)
            if not isinstance(call, Call) or call.callee is not method or call.scope is not wrap.scope:
                continue
            if read is wrap or self._is_only(wrap, read):
                yield Move(call, read, self._change(call, method.name))

    def may_reach_gpu(self, move: Call) -> bool:
        """Whether a move can lead to a GPU: as far as its argument is known, it does."""
        given = [argument.value for argument in move.arguments if argument.keyword in (None, "device")]
        devices = [self._project.constants(value) for value in given]
        return not any(known is not None and known <= {"cpu"} for known in devices)

    def _is_only(self, wrap: Call, read: Expression) -> bool:
        """Whether a name can't hold anything but what a call has made."""
        bindings = reaching(read.id, read) if isinstance(read, Name) else None
        return bool(bindings) and all(binding.value is wrap for binding in bindings or ())

    def _change(self, move: Call, name: str) -> Change:
        values = [argument.value for argument in move.arguments]
        names = {known for value in values for known in self._project.names(value)}
        return Change.TYPE if name in _TYPES or names & _TYPE_NAMES else Change.DEVICE

    def _leaves_it(self, read: Name) -> bool:
        around = self._project.uses(read.scope.script).parent(read)
        if isinstance(around, Attribute):
            return around.name in _LEAVE_IT
        return isinstance(around, Call) and self._project.names(around.callee) <= _LOOKS

    def _is_made_on_cpu(self, made: Call) -> bool:
        """Whether a call makes a module, and nothing that it runs chooses a device.

        Nor is it given anything that may be a module from elsewhere.
        """
        names = self._project.names(made.callee)
        if UNKNOWN_NAME in names or any(name.startswith(_HAND_ON) for name in names):
            return False
        return (
            self._project.models.is_made_module(made)
            and all(self._is_no_module(given.value) for given in made.arguments)
            and not any(self._places(call) for call in self._project.reach.onward([made]))
        )

    def _is_no_module(self, given: Expression) -> bool:
        """Whether an argument is no module, or one that certainly is on the CPU."""
        if isinstance(given, Sequence | Passed):
            return all(map(self._is_no_module, given.children))
        origins = self._project.origins(given)
        return all(isinstance(origin, _NO_MODULES) for origin in origins) or self.is_untouched(given)

    def _places(self, call: Call) -> bool:
        if isinstance(call.callee, Attribute) and call.callee.name in ("cuda", "to"):
            return True
        return self._project.argument(call, "device") is not Missing.ABSENT
