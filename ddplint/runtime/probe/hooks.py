"""How functions are watched: wrapped in place, with whatever goes wrong in the watching kept from the script."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable

from ddplint.runtime.probe.recorder import Recorder

Before = Callable[..., Any]
After = Callable[..., None]


# On a function that is watched already.
_MARK = "_ddplint"


class Hooks:
    """Wraps functions and methods for a recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._depths = threading.local()

    def attempt(self, hook: str, action: Callable[..., Any], *args: Any) -> Any:
        """Return what an action returns, None when it fails."""
        try:
            return action(*args)
        except Exception as error:
            try:
                self.recorder.failed(hook, error)
            except Exception:
                return None
        return None

    def around(
        self,
        owner: Any,
        name: str,
        before: Before | None = None,
        after: After | None = None,
        family: str | None = None,
    ) -> None:
        """Wrap ``owner.name``, where there is such a thing.

        ``before(args, kwargs)`` returns a token; ``after(token, result, error, args, kwargs)`` gets it. Of functions of
        one ``family`` that call each other only the outermost is watched.
        """
        original = getattr(owner, name, None)
        if original is None or _MARK in getattr(original, "__dict__", ()):
            return
        hook = f"{getattr(owner, '__name__', owner)}.{name}"
        depths = self._depths

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if family is not None:
                depth: dict[str, int] = depths.__dict__
                if depth.get(family, 0):
                    return original(*args, **kwargs)
                depth[family] = 1
            token = None
            try:
                if before is not None:
                    token = self.attempt(hook, before, args, kwargs)
                try:
                    result = original(*args, **kwargs)
                except BaseException as error:
                    if after is not None:
                        self.attempt(hook, after, token, None, error, args, kwargs)
                    raise
                if after is not None:
                    self.attempt(hook, after, token, result, None, args, kwargs)
                return result
            finally:
                if family is not None:
                    depth[family] = 0

        watched.__dict__[_MARK] = True
        setattr(owner, name, watched)

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Put ``make(original)`` in the place of ``owner.name``, where there is such a thing."""
        original = getattr(owner, name, None)
        if original is not None and _MARK not in getattr(original, "__dict__", ()):
            other = functools.wraps(original)(make(original))
            other.__dict__[_MARK] = True
            setattr(owner, name, other)
