"""Numbers that tell processes apart: the global rank, the rank on the node, the world size, the number of GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ddplint.semantics.expressions import Attribute, Call, Constant, Expression, Operation, Subscript
from ddplint.semantics.launchers import process_index
from ddplint.semantics.names import Linker
from ddplint.semantics.resolve import Origin, Resolver
from ddplint.semantics.structure import Parameter


class RankValue(Enum):
    """What a number says of the process that holds it."""

    GLOBAL = "rank in the whole job"
    LOCAL = "rank on its node"
    NODE = "number of the node"
    WORLD_SIZE = "number of processes in the whole job"
    LOCAL_WORLD_SIZE = "number of processes on the node"
    GPUS = "number of GPUs that the process sees"


# The numbers that tell one process from another.
RANKS = frozenset({RankValue.GLOBAL, RankValue.LOCAL, RankValue.NODE})
_CALLS = {
    "torch.distributed.get_rank": RankValue.GLOBAL,
    "torch.distributed.get_world_size": RankValue.WORLD_SIZE,
    "torch.distributed.get_node_local_rank": RankValue.LOCAL,
    "torch.cuda.device_count": RankValue.GPUS,
    "torch.accelerator.device_count": RankValue.GPUS,
    "torch_xla.core.xla_model.get_ordinal": RankValue.GLOBAL,
    "torch_xla.runtime.global_ordinal": RankValue.GLOBAL,
    "torch_xla.core.xla_model.get_local_ordinal": RankValue.LOCAL,
    "torch_xla.core.xla_model.xrt_world_size": RankValue.WORLD_SIZE,
    "horovod.torch.rank": RankValue.GLOBAL,
    "horovod.torch.local_rank": RankValue.LOCAL,
    "horovod.torch.size": RankValue.WORLD_SIZE,
}
_ENVIRONMENT = {
    "RANK": RankValue.GLOBAL,
    "SLURM_PROCID": RankValue.GLOBAL,
    "OMPI_COMM_WORLD_RANK": RankValue.GLOBAL,
    "PMI_RANK": RankValue.GLOBAL,
    "LOCAL_RANK": RankValue.LOCAL,
    "SLURM_LOCALID": RankValue.LOCAL,
    "OMPI_COMM_WORLD_LOCAL_RANK": RankValue.LOCAL,
    "GROUP_RANK": RankValue.NODE,
    "NODE_RANK": RankValue.NODE,
    "SLURM_NODEID": RankValue.NODE,
    "WORLD_SIZE": RankValue.WORLD_SIZE,
    "SLURM_NTASKS": RankValue.WORLD_SIZE,
    "SLURM_NPROCS": RankValue.WORLD_SIZE,
    "OMPI_COMM_WORLD_SIZE": RankValue.WORLD_SIZE,
    "LOCAL_WORLD_SIZE": RankValue.LOCAL_WORLD_SIZE,
}
_READ_ENVIRONMENT = frozenset({"os.getenv", "os.environ.get", "os.environ.setdefault", "os.environ.pop"})
_CONVERSIONS = frozenset({"builtins.int", "builtins.str", "builtins.max", "builtins.min"})
# Options that launchers and scripts agree upon: `args.local_rank`.
_OPTIONS = {"local_rank": RankValue.LOCAL, "node_rank": RankValue.NODE}
_DEEPEST = 8


class RankValues:
    """Answers which of these numbers an expression can be."""

    def __init__(self, resolver: Resolver, linker: Linker) -> None:
        self._resolver = resolver
        self._linker = linker

    def kinds(self, expression: Expression, depth: int = 0) -> frozenset[RankValue | None]:
        """Return everything that a number can say of its process; None among them: something else, or unknown."""
        if depth > _DEEPEST:
            return frozenset([None])
        return frozenset(
            kind for origin in self._resolver.origins(expression) for kind in self._of_origin(origin, depth)
        ) or frozenset([None])

    def certainly(self, expression: Expression, kind: RankValue) -> bool:
        """Whether a number can't be anything else; constants beside it (defaults) don't count."""
        origins = [origin for origin in self._resolver.origins(expression) if not isinstance(origin, Constant)]
        kinds = {found for origin in origins for found in self._of_origin(origin, 0)}
        return kinds == {kind}

    def _of_origin(self, origin: Origin, depth: int) -> Iterator[RankValue | None]:
        if isinstance(origin, Call):
            yield from self._of_call(origin, depth)
        elif isinstance(origin, Subscript):
            yield self._of_environment(origin.base, origin.index)
        elif isinstance(origin, Operation):
            yield self._of_operation(origin, depth)
        elif isinstance(origin, Attribute):
            yield _OPTIONS.get(origin.name)
        elif isinstance(origin, Parameter):
            yield self.of_parameter(origin)
        else:
            yield None

    def _of_call(self, call: Call, depth: int) -> Iterator[RankValue | None]:
        names = self._resolver.names(call.callee)
        known = {_CALLS[name] for name in names if name in _CALLS}
        if known and any(not isinstance(given.value, Constant) for given in call.arguments):
            yield None  # in a group, which may be that of a machine
        elif known:
            yield from known
        elif names & _READ_ENVIRONMENT and call.arguments:
            key = call.arguments[0].value
            yield _ENVIRONMENT.get(key.value) if isinstance(key, Constant) and isinstance(key.value, str) else None
        elif names & _CONVERSIONS and call.arguments:
            yield from self.kinds(call.arguments[0].value, depth + 1)
        else:
            yield None

    def _of_environment(self, base: Expression, index: Expression) -> RankValue | None:
        if "os.environ" not in self._resolver.names(base) or not isinstance(index, Constant):
            return None
        return _ENVIRONMENT.get(index.value) if isinstance(index.value, str) else None

    def _of_operation(self, operation: Operation, depth: int) -> RankValue | None:
        """``rank % gpus`` is the rank on the node; ``node * gpus + local rank`` is the global rank."""
        if operation.operator == "%" and RankValue.GLOBAL in self.kinds(operation.operands[0], depth + 1):
            return RankValue.LOCAL
        if operation.operator == "+" and any(self._counts_nodes(part, depth) for part in operation.operands):
            return RankValue.GLOBAL
        return None

    def _counts_nodes(self, part: Expression, depth: int) -> bool:
        return (
            isinstance(part, Operation)
            and part.operator == "*"
            and any(RankValue.NODE in self.kinds(factor, depth + 1) or _names_node(factor) for factor in part.operands)
        )

    def of_parameter(self, parameter: Parameter) -> RankValue | None:
        """Return LOCAL for the first parameter of a spawned function: the index of its process on this node."""
        calls, complete = self._linker.callers(parameter.function)
        if not complete or not calls:
            return None
        indices = {process_index(self._resolver, call, parameter.function) for call in calls}
        return RankValue.LOCAL if indices == {parameter.name} else None


def _names_node(expression: Expression) -> bool:
    """Whether an option is the node's number by its name: the scripts of the imagenet lineage call it ``rank``."""
    return isinstance(expression, Attribute) and expression.name in ("rank", "node_rank", "nr", "machine_rank")
