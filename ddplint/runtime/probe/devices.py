"""Randomness and devices: seeds, synchronising calls, the choice of a device."""

from __future__ import annotations

import random
import sys
from typing import Any, Dict, Tuple

from ddplint.runtime.probe.hooks import Hooks
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]


def patch_python_random(hooks: Hooks) -> None:
    """Watch ``random.seed``."""
    _watch_seed(hooks, random, "seed", "python")


def patch_torch_random(hooks: Hooks, module: Any) -> None:
    """Watch ``torch.manual_seed``."""
    _watch_seed(hooks, module, "manual_seed", "torch")


def patch_numpy_random(hooks: Hooks, module: Any) -> None:
    """Watch ``numpy.random.seed``."""
    _watch_seed(hooks, module, "seed", "numpy")


def patch_torch(hooks: Hooks, module: Any) -> None:
    """Say which torch this is, and watch what waits for the device."""
    hooks.recorder.write(
        Kind.TORCH,
        [],
        version=str(module.__version__),
        cuda=module.cuda.device_count(),
        stand_in=hooks.recorder.plan.stand_in,
    )
    for name in ("item", "cpu"):
        _watch_sync(hooks, module.Tensor, name)
    for name in ("synchronize", "empty_cache"):
        _watch_sync(hooks, module.cuda, name)
    hooks.around(
        module.cuda,
        "set_device",
        before=lambda args, _kwargs: hooks.recorder.write(Kind.DEVICE, what="set_device", device=str(args[0])),
    )


def _watch_sync(hooks: Hooks, owner: Any, name: str) -> None:
    recorder = hooks.recorder

    def called(_args: Args, _kwargs: Kwargs) -> tuple[int, str]:
        if recorder.places.is_called_by_user(sys._getframe(1)):
            recorder.write(Kind.SYNC, what=name)
        entered = (-1, name)
        recorder.pending.append(entered)  # a device that waits for others is waited for here
        return entered

    def done(entered: tuple[int, str], _result: Any, _error: Any, _args: Args, _kwargs: Kwargs) -> None:
        recorder.pending = [one for one in recorder.pending if one is not entered]

    hooks.around(owner, name, called, done)


def _watch_seed(hooks: Hooks, module: Any, name: str, what: str) -> None:
    def seeded(args: Args, kwargs: Kwargs) -> None:
        if hooks.recorder.places.is_called_by_user(sys._getframe(1)):
            given = args[0] if args else next(iter(kwargs.values()), None)
            hooks.recorder.write(Kind.SEED, what=what, seed=given if isinstance(given, int) else str(given))

    hooks.around(module, name, before=seeded)
