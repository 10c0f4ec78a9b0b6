"""Modules are patched right after they were executed, so that nobody has imported a name from them before."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Callable, Sequence

from ddplint.runtime.probe.hooks import Hooks

Patch = Callable[[Hooks, Any], None]


class Patches(MetaPathFinder):
    """Finds the modules that are to be patched; all others are left to the other finders."""

    def __init__(self, hooks: Hooks, patches: dict[str, list[Patch]]) -> None:
        self._hooks = hooks
        self._patches = patches

    def install(self) -> None:
        """Patch what is imported already, and the rest when it is."""
        for name in self._patches:
            if name in sys.modules:
                self.apply(sys.modules[name])
        sys.meta_path.insert(0, self)

    def apply(self, module: ModuleType) -> None:
        """Patch a module that was executed."""
        for patch in self._patches.get(module.__name__, ()):
            self._hooks.attempt(f"{module.__name__}: {patch.__name__}", patch, self._hooks, module)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module to patch, with a loader that patches it."""
        if fullname not in self._patches:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return None
        spec.loader = _Patching(spec.loader, self)
        return spec


class _Patching(Loader):
    def __init__(self, loader: Any, patches: Patches) -> None:
        self._loader = loader
        self._patches = patches

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        # The module is to look as if nobody had been here.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._patches.apply(module)
