"""Process groups and collectives."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable

from ddplint.runtime.probe.hooks import Hooks
from ddplint.trace.kinds import Kind

COLLECTIVES = (
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
)
# Of the environment variables that are written out.
_VARIABLES = ("CUDA_", "GLOO_", "LOCAL_", "MASTER_", "NCCL_", "OMP_", "PYTORCH_", "RANK", "TORCH_", "WORLD_SIZE")
BETWEEN_TWO = ("send", "recv", "isend", "irecv", "send_object_list", "recv_object_list")


def patch_distributed(hooks: Hooks, module: Any) -> None:
    """Watch ``torch.distributed.distributed_c10d``."""
    _watch_groups(hooks, module)
    works: dict[int, tuple[int, Any]] = {}
    for name in COLLECTIVES + BETWEEN_TWO:
        if hasattr(module, name):
            _watch_collective(hooks, module, name, works)
    work = getattr(module, "Work", None)
    if work is not None:

        def waited(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
            if id(args[0]) in works:
                hooks.recorder.write(Kind.WAIT, of=works[id(args[0])][0])

        hooks.around(work, "wait", before=waited)


def sequence(module: Any) -> int | None:
    """Return how many collectives the default group has started, None where that can't be known."""
    try:
        return int(module._get_default_group()._get_sequence_number_for_group())
    except Exception:
        return None


def _watch_groups(hooks: Hooks, module: Any) -> None:
    recorder = hooks.recorder

    def entering(operation: str) -> Callable[..., int]:
        def enter(_args: tuple[Any, ...], _kwargs: dict[str, Any]) -> int:
            return recorder.enter(Kind.COLLECTIVE, operation, op=operation, group=None, ranks=[], sequence=None)

        return enter

    def started(
        call: int, _result: Any, error: BaseException | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        recorder.leave(Kind.COLLECTIVE_DONE, call, error, op="init_process_group")
        if error is None:
            recorder.rank, recorder.world_size = module.get_rank(), module.get_world_size()
            timeout = kwargs.get("timeout")
            recorder.write(
                Kind.GROUP,
                backend=module.get_backend(),
                asked=args[0] if args else kwargs.get("backend"),
                world_size=recorder.world_size,
                rank=recorder.rank,
                timeout=None if timeout is None else timeout.total_seconds(),
                init_method=args[1] if len(args) > 1 else kwargs.get("init_method"),
                environment={name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)},
            )

    def ended(
        call: int, _result: Any, error: BaseException | None, _args: tuple[Any, ...], _kwargs: dict[str, Any]
    ) -> None:
        recorder.leave(Kind.COLLECTIVE_DONE, call, error, op="destroy_process_group")
        if error is None:
            recorder.write(Kind.GROUP_END)

    def made_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        ranks = kwargs.get("ranks", args[0] if args else None)
        recorder.write(Kind.SUBGROUP, ranks=None if ranks is None else list(ranks), backend=kwargs.get("backend"))
        return recorder.enter(Kind.COLLECTIVE, "new_group", op="new_group", group=None, ranks=None, sequence=None)

    def made(
        call: int, _result: Any, error: BaseException | None, _args: tuple[Any, ...], _kwargs: dict[str, Any]
    ) -> None:
        recorder.leave(Kind.COLLECTIVE_DONE, call, error, op="new_group")

    hooks.around(module, "init_process_group", entering("init_process_group"), started, family="group")
    hooks.around(module, "destroy_process_group", entering("destroy_process_group"), ended, family="group")
    hooks.around(module, "new_group", made_of, made, family="group")


def _watch_collective(hooks: Hooks, module: Any, name: str, works: dict[int, tuple[int, Any]]) -> None:
    recorder = hooks.recorder
    signature = inspect.signature(getattr(module, name))

    def entered(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        given = signature.bind_partial(*args, **kwargs).arguments
        tensors = _tensors(given)
        return recorder.enter(
            Kind.COLLECTIVE,
            name,
            op=name,
            sequence=sequence(module),
            elements=sum(tensor.numel() for tensor in tensors),
            dtype=str(tensors[0].dtype) if tensors else None,
            device=str(tensors[0].device) if tensors else None,
            reduce=_reduction(given.get("op")),
            root=next((given[key] for key in ("src", "dst", "group_src", "group_dst") if key in given), None),
            asynchronous=bool(given.get("async_op", name in ("isend", "irecv"))),
            **_group(module, given.get("group"), name in BETWEEN_TWO),
        )

    def left(
        call: int, result: Any, error: BaseException | None, _args: tuple[Any, ...], _kwargs: dict[str, Any]
    ) -> None:
        recorder.leave(Kind.COLLECTIVE_DONE, call, error, op=name)
        if hasattr(result, "wait"):
            works[id(result)] = (call, result)

    hooks.around(module, name, entered, left, family="collective")


def _tensors(given: dict[str, Any]) -> list[Any]:
    """Return the tensors of the first argument that holds any."""
    for value in given.values():
        many = list(value) if isinstance(value, (list, tuple)) else [value]
        tensors = [one for one in many if hasattr(one, "numel") and hasattr(one, "dtype")]
        if tensors:
            return tensors
    return []


def _reduction(op: Any) -> str | None:
    return None if op is None else str(op).rpartition(".")[2]


def _group(module: Any, group: Any, between_two: bool) -> dict[str, Any]:
    """Return the name and the ranks of a group; ranks are None for all of them."""
    if group is None or group is module.group.WORLD:
        return {"group": "default", "ranks": [] if between_two else None}
    ranks = module.get_process_group_ranks(group)
    name = getattr(group, "group_name", "")
    return {"group": name, "ranks": None if len(ranks) == module.get_world_size() and name == "0" else ranks}
