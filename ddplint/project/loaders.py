"""The data loaders of a script: what they are given, which samplers they can have, what they are for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ddplint.project.passes import Purpose
from ddplint.project.samplers import Sampler, SamplerKind
from ddplint.project.trail import Trail
from ddplint.semantics import Call, Expression, Script
from ddplint.semantics.arguments import Missing

if TYPE_CHECKING:
    from ddplint.project.project import Project

DATA_LOADER = "torch.utils.data.DataLoader"


class Loader:
    """One call that makes a DataLoader, torch's or of a class that derives from it."""

    def __init__(self, project: Project, call: Call) -> None:
        self.call = call
        self._project = project

    def argument(self, name: str) -> Expression | Missing:
        """Return what the loader is given for a parameter of torch's DataLoader."""
        return self._project.argument(self.call, name)

    @property
    def is_torchs(self) -> bool:
        """Whether it is certainly torch's own DataLoader."""
        return self._project.certainly(self.call.callee, DATA_LOADER)

    @cached_property
    def samplers(self) -> tuple[Sampler, ...]:
        """Everything that can choose the samples, inside a batch sampler too."""
        found: dict[Sampler, None] = {}
        for name in ("sampler", "batch_sampler"):
            given = self.argument(name)
            if isinstance(given, Expression):
                found.update(dict.fromkeys(self._project.samplers.of(given)))
            elif given is Missing.UNKNOWN:
                found[Sampler(SamplerKind.UNKNOWN)] = None
        if any(sampler.kind is not SamplerKind.NONE for sampler in found):
            return tuple(found)
        return (Sampler(SamplerKind.NONE),)

    @property
    def trail(self) -> Trail:
        """Where the loader goes."""
        return self._project.trail(self.call)

    @cached_property
    def purpose(self) -> Purpose:
        """What the loader is run over for."""
        return self._project.passes.purpose(self.trail)


class Loaders:
    """The loaders of every script of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, tuple[Loader, ...]] = {}

    def of(self, script: Script) -> tuple[Loader, ...]:
        """Return a script's loaders in source order."""
        if id(script) not in self._known:
            self._known[id(script)] = tuple(
                Loader(self._project, call)
                for call in script.calls
                if DATA_LOADER in self._project.resolver.kinds(call.callee)
            )
        return self._known[id(script)]
