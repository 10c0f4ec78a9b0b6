"""How the process ends: its errors, its exit, and the processes that it starts."""

from __future__ import annotations

import atexit
import multiprocessing.process
import sys
from types import TracebackType
from typing import Any

from ddplint.runtime.probe.hooks import Hooks
from ddplint.trace.kinds import Kind


def patch_process(hooks: Hooks) -> None:
    """Watch errors and the end of the interpreter."""
    recorder = hooks.recorder
    shown = sys.excepthook

    def excepthook(cls: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        hooks.attempt("excepthook", recorder.error, error, traceback)
        shown(cls, error, traceback)

    def run(original: Any) -> Any:
        def watched(process: Any) -> Any:
            try:
                return original(process)
            except Exception as error:
                hooks.attempt("Process.run", recorder.error, error, error.__traceback__)
                raise

        return watched

    sys.excepthook = excepthook
    hooks.replace(multiprocessing.process.BaseProcess, "run", run)
    atexit.register(lambda: hooks.attempt("atexit", recorder.write, Kind.EXIT, []))


def patch_spawn(hooks: Hooks, module: Any) -> None:
    """Watch ``torch.multiprocessing.spawn``, which catches the errors of the functions that it runs."""

    def wrap(original: Any) -> Any:
        def watched(fn: Any, *args: Any) -> Any:
            def run(*given: Any) -> Any:
                try:
                    return fn(*given)
                except Exception as error:
                    hooks.attempt("spawn", hooks.recorder.error, error, error.__traceback__)
                    raise

            return original(run, *args)

        return watched

    hooks.replace(module, "_wrap", wrap)
