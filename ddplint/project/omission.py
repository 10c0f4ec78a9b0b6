"""Whether ranks can go without a statement: nobody waits for what it runs, and nothing later needs what it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddplint.semantics import (
    Attribute,
    Call,
    Comparison,
    Conditional,
    Constant,
    Expression,
    FormattedText,
    Logic,
    Mapping,
    Name,
    Not,
    Operation,
    Sequence,
    Subscript,
)
from ddplint.semantics.speech import is_whole_statement
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What talks to no other process.
_CALLS = (
    "builtins.abs",
    "builtins.dict",
    "builtins.float",
    "builtins.format",
    "builtins.int",
    "builtins.len",
    "builtins.list",
    "builtins.max",
    "builtins.min",
    "builtins.repr",
    "builtins.round",
    "builtins.str",
    "builtins.sum",
    "builtins.tuple",
    "builtins.type",
    "builtins.vars",
    "pathlib.Path",
    "os.path.join",
    "os.path.basename",
    "os.path.dirname",
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "datetime.datetime.now",
    "torch.cuda.max_memory_allocated",
    "torch.cuda.memory_allocated",
    "torch.get_rng_state",
)
_METHODS = frozenset(
    {"cpu", "detach", "format", "get_last_lr", "item", "join", "lower", "numpy", "strftime", "strip", "upper"}
)
# What a whole model or optimizer gives on each process by itself, unless its parameters are shared out.
_STATE = frozenset({"state_dict"})
_SHARED_OUT = (
    b"FullyShardedDataParallel",
    b"fully_shard",
    b"FSDP",
    b"DTensor",
    b"distribute_tensor",
    b"parallelize_module",
    b"ZeroRedundancyOptimizer",
    b"deepspeed",
)
_PARTS = (
    Attribute,
    Comparison,
    Conditional,
    Constant,
    FormattedText,
    Logic,
    Mapping,
    Name,
    Not,
    Operation,
    Sequence,
    Subscript,
)


class Omissions:
    """Answers for the calls of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def can_be_left_out(self, call: Call) -> bool:
        """Whether ranks can go without a call: it is a statement of its own and nobody waits for what it runs."""
        if not is_whole_statement(call) or not self.is_quiet(*(given.value for given in call.arguments)):
            return False
        function = self._project.resolver.function_of(call)
        return function is None or self._leaves_nothing(call, function)

    def _leaves_nothing(self, call: Call, function: Function) -> bool:
        """Whether a function of the project meets no other rank and keeps nothing that is needed later."""
        if self._project.collectives.may_meet(call) or self._project.mentions(call.scope.script, _SHARED_OUT):
            return False
        return not any(store.region.scope.function is function for store in function.script.stores)

    def is_quiet(self, *values: Expression) -> bool:
        """Whether no other process can wait for what the evaluation of expressions runs."""
        return all(self._is_quiet(part) for value in values for part in value.walk())

    def _is_quiet(self, part: Expression) -> bool:
        if not isinstance(part, Call):
            return isinstance(part, _PARTS)
        if self._project.certainly(part.callee, *_CALLS):
            return True
        if not isinstance(part.callee, Attribute) or self._project.resolver.function_of(part) is not None:
            return False
        if part.callee.name in _STATE:
            return not self._project.mentions(part.scope.script, _SHARED_OUT)
        return part.callee.name in _METHODS
