"""CUDA where there is none: what a script asks of a GPU happens on the CPU, and NCCL becomes gloo.

What was asked for is recorded as it was asked. Numbers of devices, memory and time are made up, and no evidence.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, Dict, Tuple

from ddplint.runtime.probe.hooks import Hooks
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]
_MEMORY = 16 << 30  # bytes of each made-up device
_NOTHING = (
    "empty_cache",
    "init",
    "ipc_collect",
    "manual_seed",
    "manual_seed_all",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed_all",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "synchronize",
)
_ZERO = ("max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "utilization")


def stand_in_for_cuda(hooks: Hooks, torch: Any) -> None:
    """Let ``torch.cuda`` tell of as many devices as there are ranks, and send tensors for them to the CPU."""
    count = hooks.recorder.plan.nproc
    current = [0]

    def set_device(device: Any) -> None:
        current[0] = _index(device) or 0

    cuda = torch.cuda
    fixed = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "device_count": count,
        "get_device_capability": (8, 0),
        "get_device_name": "stand-in for a GPU",
        "mem_get_info": (_MEMORY, _MEMORY),
        "memory_summary": "",
        "get_arch_list": [],
    }
    for name in _NOTHING:
        setattr(cuda, name, lambda *_args, **_kwargs: None)
    for name in _ZERO:
        setattr(cuda, name, lambda *_args, **_kwargs: 0)
    for name, value in fixed.items():
        setattr(cuda, name, lambda *_args, value=value, **_kwargs: value)
    state = torch.zeros(16, dtype=torch.uint8)
    cuda.get_rng_state = lambda *_args: state
    cuda.get_rng_state_all = lambda: [state] * count
    for name in ("Float", "Double", "Half", "Long", "Int", "Byte", "Bool"):
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    cuda.nccl.version = lambda: (2, 0, 0)
    cuda.memory_stats = lambda *_args, **_kwargs: {}
    cuda.current_device = lambda: current[0]
    cuda.set_device = set_device
    cuda.get_device_properties = lambda *_args: SimpleNamespace(
        name="stand-in for a GPU", major=8, minor=0, total_memory=_MEMORY, multi_processor_count=1
    )
    cuda.device = lambda *_args: nullcontext()
    cuda.stream = lambda *_args: nullcontext()
    cuda.Event, cuda.Stream = _Event, _Stream
    cuda.current_stream = cuda.default_stream = lambda *_args: _Stream()
    torch.compile = _not_compiled
    if hasattr(torch, "accelerator"):
        _stand_in_for_accelerator(torch, count, current, set_device)
    _mode(hooks, torch).__enter__()


def _stand_in_for_accelerator(torch: Any, count: int, current: Any, set_device: Any) -> None:
    """Let ``torch.accelerator`` say to scripts what ``torch.cuda`` says, and to torch itself that there is none."""
    accelerator = torch.accelerator
    accelerator.is_available = lambda: not _asked_by_torch()
    accelerator.device_count = lambda: 0 if _asked_by_torch() else count
    accelerator.current_accelerator = lambda *_args, **_kwargs: None if _asked_by_torch() else torch.device("cuda")
    accelerator.current_device_index = accelerator.current_device_idx = lambda: current[0]
    accelerator.set_device_index = accelerator.set_device_idx = set_device
    accelerator.synchronize = lambda *_args: None


def _asked_by_torch() -> bool:
    """Whether a stand-in is called by torch's own code."""
    return str(sys._getframe(2).f_globals.get("__name__", "")).partition(".")[0] == "torch"


def stand_in_for_nccl(_hooks: Hooks, module: Any) -> None:
    """Start gloo groups where a script asks for NCCL."""

    def with_gloo(original: Any) -> Any:
        def start(*args: Any, **kwargs: Any) -> Any:
            kwargs.pop("device_id", None)
            if args:
                return original(_backend(args[0]), *args[1:], **kwargs)
            kwargs["backend"] = _backend(kwargs.get("backend"))
            return original(**kwargs)

        return start

    def group_with_gloo(original: Any) -> Any:
        def make(*args: Any, **kwargs: Any) -> Any:
            kwargs.pop("device_id", None)
            if kwargs.get("backend") is not None:
                kwargs["backend"] = _backend(kwargs["backend"])
            return original(*args, **kwargs)

        return make

    def without_devices(original: Any) -> Any:
        def barrier(*args: Any, **kwargs: Any) -> Any:
            kwargs.pop("device_ids", None)
            return original(*args[:2], **kwargs)

        return barrier

    module.init_process_group = with_gloo(module.init_process_group)
    module.new_group = group_with_gloo(module.new_group)
    module.barrier = without_devices(module.barrier)
    module.is_nccl_available = lambda: True


def stand_in_for_ddp(_hooks: Hooks, module: Any) -> None:
    """Let ``DistributedDataParallel`` wrap models on the CPU, whatever devices it is given."""
    original = module.DistributedDataParallel.__init__

    def __init__(self: Any, module: Any, *_devices: Any, **kwargs: Any) -> None:
        kwargs.pop("device_ids", None)
        kwargs.pop("output_device", None)
        original(self, module, *_devices[2:], **kwargs)

    module.DistributedDataParallel.__init__ = __init__


def stand_in_for_dp(_hooks: Hooks, module: Any) -> None:
    """Let ``DataParallel`` run its model once, on the whole batch."""
    module.DataParallel.forward = lambda self, *args, **kwargs: self.module(*args, **kwargs)


def stand_in_for_sync_batch_norm(_hooks: Hooks, module: Any) -> None:
    """Leave BatchNorm as it is: SyncBatchNorm trains on GPUs alone."""
    module.SyncBatchNorm.convert_sync_batchnorm = classmethod(lambda _cls, model, *_args, **_kwargs: model)


def stand_in_for_load(_hooks: Hooks, module: Any) -> None:
    """Load checkpoints to the CPU."""
    original = module.load

    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(map_location, dict):
            map_location = {key: _device(value) for key, value in map_location.items()}
        return original(f, _device(map_location), *args, **kwargs)

    module.load = load


def stand_in_for_pinned_memory(_hooks: Hooks, module: Any) -> None:
    """Hand batches out as they are; the loader was recorded as it was made."""
    original = module._BaseDataLoaderIter.__init__

    def __init__(self: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
        loader.pin_memory = False
        original(self, loader, *args, **kwargs)

    module._BaseDataLoaderIter.__init__ = __init__


def _not_compiled(model: Any = None, **_options: Any) -> Any:
    """What is compiled for a GPU runs as it is written."""
    return model if model is not None else lambda function: function


class _Event:
    """An event of a stream that is always done."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def record(self, *_args: Any) -> None:
        pass

    def wait(self, *_args: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, _other: Any) -> float:
        return 0.0


class _Stream(_Event):
    """A stream in which everything is done at once."""

    def wait_stream(self, _other: Any) -> None:
        pass

    def wait_event(self, _event: Any) -> None:
        pass

    def record_event(self, event: Any = None) -> Any:
        return event or _Event()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_error: Any) -> None:
        pass


def _mode(hooks: Hooks, torch: Any) -> Any:
    """Return the mode in which every call of torch with a CUDA device gets the CPU in its place."""
    from torch.overrides import TorchFunctionMode

    same = frozenset({torch.Tensor.cuda, torch.Tensor.pin_memory})
    told = set()

    def tell(what: str, device: Any) -> None:
        stack = hooks.recorder.places.stack(sys._getframe(1))
        key = (str(stack[:1]), what, str(device))
        if stack and key not in told:
            told.add(key)
            hooks.recorder.write(Kind.DEVICE, stack, what=what, device=str(device))

    class OnCpu(TorchFunctionMode):
        def __torch_function__(self, func: Any, _types: Any, args: Args = (), kwargs: Kwargs | None = None) -> Any:
            kwargs = dict(kwargs or {})
            if func in same:
                if func is torch.Tensor.cuda:
                    asked = args[1] if len(args) > 1 else kwargs.get("device")
                    hooks.attempt("device", tell, "cuda", asked)
                return args[0]
            if func is torch.Tensor.to:
                asked = next((one for one in (*args[1:], kwargs.get("device")) if _is_cuda(one)), None)
                if asked is not None:
                    hooks.attempt("device", tell, "to", asked)
                args = (args[0], *map(_device, args[1:]))
            elif getattr(func, "__name__", "") == "_parse_to":  # what Module.to() asks about its arguments
                asked = next((one for one in args if _is_cuda(one)), None)
                if asked is not None:
                    hooks.attempt("device", tell, "to", asked)
                args = tuple(map(_device, args))
            if "device" in kwargs:
                kwargs["device"] = _device(kwargs["device"])
            return func(*args, **kwargs)

    return OnCpu()


def _is_cuda(device: Any) -> bool:
    if type(device).__name__ == "device":
        return bool(device.type == "cuda")
    return (isinstance(device, int) and not isinstance(device, bool)) or (
        isinstance(device, str) and device.startswith("cuda")
    )


def _device(device: Any) -> Any:
    """Return the CPU for a CUDA device, and anything else as it is."""
    return "cpu" if _is_cuda(device) else device


def _index(device: Any) -> int | None:
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        _, _, index = device.partition(":")
        return int(index) if index.isdigit() else None
    return getattr(device, "index", None)


def _backend(backend: Any) -> str:
    """Return gloo for NCCL, also within ``cpu:gloo,cuda:nccl``."""
    return "gloo" if backend is None or "nccl" in str(backend).lower() else str(backend)


# What is patched before anything is watched: the hooks see what the script asked for.
PATCHES = {
    "torch": stand_in_for_cuda,
    "torch.distributed.distributed_c10d": stand_in_for_nccl,
    "torch.nn.modules.batchnorm": stand_in_for_sync_batch_norm,
    "torch.nn.parallel.data_parallel": stand_in_for_dp,
    "torch.nn.parallel.distributed": stand_in_for_ddp,
    "torch.serialization": stand_in_for_load,
    "torch.utils.data.dataloader": stand_in_for_pinned_memory,
}
