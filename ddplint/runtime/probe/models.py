"""Models, their wrappers, and passes through them."""

from __future__ import annotations

import threading
from typing import Any, Dict, Tuple

from ddplint.runtime.probe.hooks import Hooks
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]


class Models:
    """The wrappers of this process by the identity of the model in each: ``number`` and the kind of wrapper."""

    def __init__(self) -> None:
        self.wrapped: dict[int, tuple[int, str]] = {}
        self.wrappers: dict[int, int] = {}
        # A wrapper that dies after its process group can deadlock in the destructor of gloo: none of them dies.
        self.kept: list[Any] = []
        self.inside = threading.local()
        self.replicas = False

    def add(self, wrapper: Any, kind: str) -> int:
        """Number a new wrapper."""
        number = len(self.kept)
        self.kept.append(wrapper)
        self.wrappers[id(wrapper)] = number
        self.wrapped[id(wrapper.module)] = (number, kind)
        return number


_MODELS = Models()


def patch_module(hooks: Hooks, module: Any) -> None:
    """Watch calls of ``torch.nn.Module`` from outside of any other."""
    original = module.Module.__call__
    inside, models, attempt = _MODELS.inside, _MODELS, hooks.attempt

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        depth = inside.__dict__.get("depth", 0)
        is_inner = models.replicas or inside.__dict__.get("wrapper") or (depth and id(self) not in models.wrapped)
        if is_inner or id(self) in models.wrappers:  # the forward of a wrapper is watched by itself
            return original(self, *args, **kwargs)
        call = attempt("Module.__call__", _enter, hooks, self, None, args, kwargs)
        inside.depth = depth + 1
        try:
            result = original(self, *args, **kwargs)
        finally:
            inside.depth = depth
        attempt("Module.__call__", hooks.recorder.leave, Kind.FORWARD_DONE, call)
        return result

    module.Module.__call__ = watched


def patch_ddp(hooks: Hooks, module: Any) -> None:
    """Watch ``DistributedDataParallel``."""
    cls = module.DistributedDataParallel
    recorder = hooks.recorder

    def wrapping(_args: Args, _kwargs: Kwargs) -> int:
        return recorder.enter(
            Kind.COLLECTIVE,
            "construction of DistributedDataParallel",
            op="wrap",
            group=None,
            ranks=[],
            sequence=None,
        )

    def wrapped(call: int, _result: Any, error: BaseException | None, args: Args, kwargs: Kwargs) -> None:
        recorder.leave(Kind.COLLECTIVE_DONE, call, error, op="wrap")
        if error is not None:
            return
        wrapper = args[0]
        parameters = list(wrapper.module.parameters())
        recorder.write(
            Kind.DDP,
            model=_MODELS.add(wrapper, "ddp"),
            module=type(wrapper.module).__name__,
            parameters=len(parameters),
            elements=sum(parameter.numel() for parameter in parameters),
            batch_norms=_batch_norms(wrapper.module),
            buffers=sum(1 for _ in wrapper.module.buffers()),
            find_unused_parameters=getattr(wrapper, "find_unused_parameters", None),
            broadcast_buffers=getattr(wrapper, "broadcast_buffers", None),
            static_graph=getattr(wrapper, "static_graph", None),
            device_ids=_devices(kwargs.get("device_ids", args[2] if len(args) > 2 else None)),
            devices=sorted({str(parameter.device) for parameter in parameters}),
        )

    hooks.around(cls, "__init__", wrapping, wrapped)
    _watch_forward(hooks, cls, "ddp")
    hooks.around(
        cls,
        "no_sync",
        before=lambda args, _kwargs: recorder.write(Kind.NO_SYNC, model=_MODELS.wrappers.get(id(args[0]))),
    )


def patch_dp(hooks: Hooks, module: Any) -> None:
    """Watch ``DataParallel``."""
    cls = module.DataParallel
    recorder = hooks.recorder

    def wrapped(_token: Any, _result: Any, error: BaseException | None, args: Args, _kwargs: Kwargs) -> None:
        if error is None:
            wrapper = args[0]
            device_ids = [str(one) for one in wrapper.device_ids]
            number, name = _MODELS.add(wrapper, "dp"), type(wrapper.module).__name__
            recorder.write(Kind.DP, model=number, module=name, device_ids=device_ids)

    hooks.around(cls, "__init__", after=wrapped)
    _watch_forward(hooks, cls, "dp")


def patch_tensor(hooks: Hooks, module: Any) -> None:
    """Watch ``Tensor.backward``."""
    _watch_backward(hooks, module.Tensor)


def patch_autograd(hooks: Hooks, module: Any) -> None:
    """Watch ``torch.autograd.backward``."""
    _watch_backward(hooks, module)


def _watch_forward(hooks: Hooks, cls: Any, kind: str) -> None:
    def entered(args: Args, kwargs: Kwargs) -> Any:
        before = _MODELS.inside.__dict__.get("wrapper", 0)
        _MODELS.inside.wrapper = before + 1
        _MODELS.replicas = kind == "dp"
        return before, _enter(hooks, args[0], kind, args[1:], kwargs)

    def left(token: Any, _result: Any, error: BaseException | None, _args: Args, _kwargs: Kwargs) -> None:
        _MODELS.replicas = False
        _MODELS.inside.wrapper = token[0]
        hooks.recorder.leave(Kind.FORWARD_DONE, token[1], error)

    hooks.around(cls, "forward", entered, left)


def _enter(hooks: Hooks, model: Any, wrapper: str | None, args: Args, kwargs: Kwargs) -> int:
    import torch

    number, past = _MODELS.wrapped.get(id(model), (None, None)) if wrapper is None else (None, None)
    if wrapper is not None:
        number = _MODELS.wrappers.get(id(model))
    first = next((one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)), None)
    return hooks.recorder.enter(
        Kind.FORWARD,
        "forward of DistributedDataParallel" if wrapper == "ddp" else "forward",
        model=number,
        module=type(model if wrapper is None else model.module).__name__,
        wrapper=wrapper,
        past=past,
        training=bool(model.training),
        grad=torch.is_grad_enabled(),
        elements=None if first is None else first.numel(),
        batch=None if first is None or not first.dim() else first.shape[0],
        device=None if first is None else str(first.device),
    )


def _watch_backward(hooks: Hooks, owner: Any) -> None:
    recorder = hooks.recorder

    def entered(args: Args, _kwargs: Kwargs) -> int:
        loss = args[0] if args and hasattr(args[0], "numel") else None
        value = float(loss.detach()) if loss is not None and loss.numel() == 1 else None
        return recorder.enter(Kind.BACKWARD, "backward", loss=value)

    def left(call: int, _result: Any, error: BaseException | None, _args: Args, _kwargs: Kwargs) -> None:
        recorder.leave(Kind.BACKWARD_DONE, call, error)

    hooks.around(owner, "backward", entered, left, family="backward")


def _devices(given: Any) -> list[str] | None:
    return None if given is None else [str(one) for one in given]


def _batch_norms(model: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part in model.modules():
        name = type(part).__name__
        if "BatchNorm" in name:
            counts[name] = counts.get(name, 0) + 1
    return counts
