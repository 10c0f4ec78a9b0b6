"""Optimizers, schedulers, gradient scaling and clipping."""

from __future__ import annotations

import hashlib
import struct
import sys
from typing import Any, Dict, Tuple

from ddplint.runtime.probe.distributed import sequence
from ddplint.runtime.probe.hooks import Hooks
from ddplint.runtime.probe.stop import Stopper
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]
_VALUES = 64  # of each parameter that go into the checksum


class Optimisation:
    """Watches the optimizers of a process, and tells the stopper of their steps."""

    def __init__(self, stopper: Stopper) -> None:
        self._stopper = stopper
        self._numbers: dict[int, int] = {}
        self._steps: dict[int, int] = {}
        self._kept: list[Any] = []
        self._without: dict[int, int] = {}

    def patch_optimizer(self, hooks: Hooks, module: Any) -> None:
        """Watch ``torch.optim.Optimizer``."""
        recorder = hooks.recorder

        def made(_token: Any, _result: Any, error: BaseException | None, args: Args, _kwargs: Kwargs) -> None:
            if error is None:
                optimizer = args[0]
                recorder.write(
                    Kind.OPTIMIZER,
                    optimizer=self._number(optimizer),
                    cls=type(optimizer).__name__,
                    rates=_rates(optimizer),
                    parameters=len(_parameters(optimizer)),
                )

        def stepping(optimizer: Any, _args: Args, _kwargs: Kwargs) -> None:
            hooks.attempt("Optimizer.step", self._before_step, optimizer)

        def stepped(optimizer: Any, _args: Args, _kwargs: Kwargs) -> None:
            hooks.attempt("Optimizer.step", self._after_step, hooks, optimizer)

        hooks.around(module.Optimizer, "__init__", after=made)
        hooks.around(
            module.Optimizer,
            "zero_grad",
            before=lambda args, _kwargs: recorder.write(Kind.ZERO_GRAD, optimizer=self._number(args[0])),
        )
        module.register_optimizer_step_pre_hook(stepping)
        module.register_optimizer_step_post_hook(stepped)

    def _before_step(self, optimizer: Any) -> None:
        self._without[id(optimizer)] = sum(parameter.grad is None for parameter in _parameters(optimizer))

    def _after_step(self, hooks: Hooks, optimizer: Any) -> None:
        number = self._number(optimizer)
        self._steps[number] = count = self._steps.get(number, 0) + 1
        distributed = sys.modules.get("torch.distributed.distributed_c10d")
        hooks.recorder.write(
            Kind.STEP,
            optimizer=number,
            cls=type(optimizer).__name__,
            number=count,
            rates=_rates(optimizer),
            checksum=checksum(_parameters(optimizer)),
            without_gradient=self._without.pop(id(optimizer), None),
            parameters=len(_parameters(optimizer)),
            sequence=None if distributed is None else sequence(distributed),
        )
        hooks.recorder.first_step = True
        self._stopper.stepped(count)

    def _number(self, optimizer: Any) -> int:
        if id(optimizer) not in self._numbers:
            self._numbers[id(optimizer)] = len(self._kept)
            self._kept.append(optimizer)
        return self._numbers[id(optimizer)]


def checksum(parameters: list[Any]) -> str:
    """Return a digest of some values of each parameter: equal bits give equal digests."""
    sums = []
    for parameter in parameters:
        flat = parameter.detach().reshape(-1)
        stride = max(1, flat.numel() // _VALUES)
        sums.append(float(flat[::stride].double().sum()))
    return hashlib.blake2b(struct.pack(f"{len(sums)}d", *sums), digest_size=8).hexdigest()


def patch_scheduler(hooks: Hooks, module: Any) -> None:
    """Watch ``torch.optim.lr_scheduler``."""
    for name in ("LRScheduler", "_LRScheduler", "ReduceLROnPlateau"):
        cls = getattr(module, name, None)
        if cls is None:
            continue
        making: list[int] = []
        hooks.around(
            cls,
            "__init__",
            before=lambda args, _kwargs, making=making: making.append(id(args[0])),
            after=lambda _token, _result, _error, args, _kwargs, making=making: making.remove(id(args[0])),
        )
        hooks.around(
            cls,
            "step",
            before=lambda args, _kwargs, making=making: hooks.recorder.write(
                Kind.SCHEDULER_STEP, cls=type(args[0]).__name__, initial=id(args[0]) in making
            ),
            family="scheduler",
        )


def patch_scaler(hooks: Hooks, module: Any) -> None:
    """Watch ``GradScaler``."""
    inside: list[str] = []
    for name, do in (("scale", "scale"), ("unscale_", "unscale"), ("step", "step"), ("update", "update")):

        def entered(args: Args, _kwargs: Kwargs, do: str = do) -> None:
            scaler = args[0]
            scale = getattr(scaler, "_scale", None)
            hooks.recorder.write(
                Kind.SCALER,
                do=do,
                enabled=scaler.is_enabled(),
                scale=None if scale is None else float(scale),
                inner=bool(inside),
            )
            inside.append(do)

        def left(_token: Any, _result: Any, _error: Any, _args: Args, _kwargs: Kwargs) -> None:
            inside.pop()

        hooks.around(module.GradScaler, name, entered, left)


def patch_clip(hooks: Hooks, module: Any) -> None:
    """Watch ``torch.nn.utils.clip_grad``."""
    for name, do in (("clip_grad_norm_", "norm"), ("clip_grad_value_", "value")):

        def clipped(_token: Any, result: Any, error: Any, args: Args, kwargs: Kwargs, do: str = do) -> None:
            limit = args[1] if len(args) > 1 else next(iter(kwargs.values()))
            norm = float(result) if error is None and hasattr(result, "numel") else None
            hooks.recorder.write(Kind.CLIP, do=do, limit=float(limit), norm=norm)

        hooks.around(module, name, after=clipped)


def _parameters(optimizer: Any) -> list[Any]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _rates(optimizer: Any) -> list[float]:
    return [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
