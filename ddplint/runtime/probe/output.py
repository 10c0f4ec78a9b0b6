"""What the script says: print, logging, progress bars, warnings, experiment trackers."""

from __future__ import annotations

import builtins
import logging
import sys
import warnings
from typing import Any, Dict, Tuple

from ddplint.runtime.probe.hooks import Hooks
from ddplint.trace.kinds import Kind

Args = Tuple[Any, ...]
Kwargs = Dict[str, Any]
_LONGEST = 400  # characters


def patch_output(hooks: Hooks) -> None:
    """Watch what the standard library says."""
    recorder = hooks.recorder

    def printed(args: Args, kwargs: Kwargs) -> None:
        if not recorder.places.is_called_by_user(sys._getframe(1)):
            return
        separator = kwargs.get("sep")
        text = (" " if separator is None else separator).join(map(str, args))
        recorder.write(Kind.PRINT, text=text[:_LONGEST], to=_stream(kwargs.get("file")))

    def logged(args: Args, _kwargs: Kwargs) -> None:
        logger, record = args
        path = recorder.places.path(record.pathname)
        if path is None:
            return
        recorder.write(
            Kind.LOG,
            [[path, record.lineno, record.funcName], *recorder.places.stack(sys._getframe(1))[1:]],
            text=record.getMessage()[:_LONGEST],
            level=record.levelname,
            logger=logger.name,
            shown=_is_shown(logger, record),
        )

    def warned(args: Args, kwargs: Kwargs) -> None:
        filename = args[2] if len(args) > 2 else kwargs.get("filename")
        line = args[3] if len(args) > 3 else kwargs.get("lineno")
        path = recorder.places.path(str(filename))
        stack = recorder.places.stack(sys._getframe(1)) if path is None else [[path, line, ""]]
        category = args[1] if len(args) > 1 else kwargs.get("category")
        recorder.write(
            Kind.WARNING,
            stack,
            text=str(args[0] if args else kwargs.get("message"))[:_LONGEST],
            category=getattr(category, "__name__", str(category)),
        )

    hooks.around(builtins, "print", before=printed)
    hooks.around(logging.Logger, "callHandlers", before=logged)
    hooks.around(warnings, "showwarning", before=warned)


def patch_tqdm(hooks: Hooks, module: Any) -> None:
    """Watch progress bars, and what is written past them."""

    def made(_token: Any, _result: Any, error: BaseException | None, args: Args, _kwargs: Kwargs) -> None:
        if error is None:
            bar = args[0]
            hooks.recorder.write(Kind.BAR, text=str(getattr(bar, "desc", "") or ""), disabled=bool(bar.disable))

    def written(original: Any) -> Any:
        def write(cls: Any, s: Any, file: Any = None, end: str = "\n", nolock: bool = False) -> Any:
            hooks.attempt("tqdm.write", _write, s, file)
            return original.__func__(cls, s, file=file, end=end, nolock=nolock)

        return write

    def _write(text: Any, file: Any) -> None:
        hooks.recorder.write(Kind.PRINT, text=str(text)[:_LONGEST], to=_stream(file))

    hooks.around(module.tqdm, "__init__", after=made)
    module.tqdm.write = classmethod(written(module.tqdm.__dict__["write"]))


def patch_tensorboard(hooks: Hooks, module: Any) -> None:
    """Watch ``SummaryWriter``."""

    def made(args: Args, kwargs: Kwargs) -> None:
        path = args[1] if len(args) > 1 else kwargs.get("log_dir")
        hooks.recorder.write(Kind.TRACKER, what="SummaryWriter", path=None if path is None else str(path))

    hooks.around(module.SummaryWriter, "__init__", before=made)


def patch_wandb(hooks: Hooks, module: Any) -> None:
    """Watch the beginning of a run of wandb."""
    _watch_tracker(hooks, module, "init")


def patch_mlflow(hooks: Hooks, module: Any) -> None:
    """Watch the beginning of a run of mlflow."""
    _watch_tracker(hooks, module, "start_run")


def _watch_tracker(hooks: Hooks, module: Any, name: str) -> None:
    what = f"{module.__name__}.{name}"
    hooks.around(module, name, before=lambda _args, _kwargs: hooks.recorder.write(Kind.TRACKER, what=what, path=None))


def _is_shown(logger: Any, record: Any) -> bool:
    """Whether a handler writes a record to the console."""
    handlers = []
    current = logger
    while current is not None:
        handlers += current.handlers
        current = current.parent if current.propagate else None
    if not handlers:
        return bool(logging.lastResort and record.levelno >= logging.lastResort.level)
    return any(
        isinstance(handler, logging.StreamHandler)
        and not isinstance(handler, logging.FileHandler)
        and record.levelno >= handler.level
        for handler in handlers
    )


def _stream(file: Any) -> str:
    """Tell where a text goes; what the script has put in the place of the standard output may lead nowhere."""
    stream = sys.stdout if file is None else file
    try:
        descriptor = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return "stdout" if stream is sys.stdout else "stderr" if stream is sys.stderr else "file"
    return {1: "stdout", 2: "stderr"}.get(descriptor, "file")
