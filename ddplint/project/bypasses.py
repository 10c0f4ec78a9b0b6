"""Forward passes of a model past its wrapper, whose gradients DDP never sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD, is_backward
from ddplint.project.frames import Frame
from ddplint.project.sites import Site
from ddplint.semantics import Attribute, Call, Comparison, Expression, Name, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Class, Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

# What comes out of these has no gradient.
_CUTS = frozenset(
    {
        "detach",
        "detach_",
        "item",
        "tolist",
        "numpy",
        "argmax",
        "argmin",
        "argsort",
        "eq",
        "ne",
        "gt",
        "lt",
        "size",
        "len",
    }
)
_GRADIENT = re.compile(r"grad", re.IGNORECASE)

# The model inside of a wrapper, read for something else than its state or its mode.
_FORWARD_INSIDE = re.compile(
    rb"\.module\b(?!\s*\.\s*(?:(?:load_)?state_dict|(?:named_)?(?:parameters|modules|children|buffers)|eval|train|to"
    rb"|cuda|cpu|zero_grad|half|float|apply|requires_grad_|save_pretrained|config)\b)"
)


@dataclass(frozen=True, slots=True)
class Bypass:
    """A call that runs the model inside of a wrapper, and the backward pass that it leads to.

    ``wrapped``: the wrapped model. ``direct``: the call is ``wrapped.module(...)`` or ``wrapped.module.forward(...)``.
    """

    call: Call
    wrapped: Expression
    backward: Call
    direct: bool


class Bypasses:
    """Finds bypasses, and answers which methods of a model run its parameters."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._running: dict[tuple[int, str], bool] = {}
        self._reading: dict[int, bool] = {}

    def of(self, function: Function | None, script: Script) -> Iterator[Bypass]:
        """Yield the bypasses of the backward passes that stand in a function, or outside of functions.

        A forward through the wrapper beside it arms the exchange of gradients, and a script may exchange them itself:
        then there is none.
        """
        backwards = [call for call in script.calls_in(function) if is_backward(call)]
        if not backwards or not self._may_bypass(script):
            return
        seen: set[int] = set()
        for frame in self._project.frames.ways(function):
            found = [bypass for backward in backwards for bypass in self._led_to(backward, frame)]
            if not found or any(map(self._exchanges_gradients, self._project.sites.of(function, script, frame))):
                continue
            for bypass in found:
                if id(bypass.call) not in seen:
                    seen.add(id(bypass.call))
                    yield bypass

    def _may_bypass(self, script: Script) -> bool:
        """Whether the program reads the model inside of a wrapper for anything that may be a forward."""
        if id(script) not in self._reading:
            contents = self._project.contents(script)
            self._reading[id(script)] = any(_FORWARD_INSIDE.search(content) for content in contents)
        return self._reading[id(script)]

    def runs_parameters(self, cls: Class, name: str) -> bool:
        """Whether a method of a model records a gradient for its parameters: it calls the model or a part of it."""
        key = (id(cls), name)
        if key not in self._running:
            self._running[key] = False  # what a method that calls itself gets
            self._running[key] = self._runs(cls, name)
        return self._running[key]

    def _runs(self, cls: Class, name: str) -> bool:
        method = self._project.resolver.method(cls, name)
        if method is None or not method.parameters:
            return False
        owner = method.parameters[0].name
        calls = [call for call in method.script.calls_in(method) if _starts_with(call.callee, owner)]
        calls = [call for call in calls if not self._project.training.without_gradient(call)]
        return any(isinstance(call.callee, Name) or self._runs_part(cls, call.callee) for call in calls)

    def _runs_part(self, cls: Class, callee: Expression) -> bool:
        """Whether ``self.x(...)`` calls a part of the model, or a method that runs some."""
        if not isinstance(callee, Attribute) or not isinstance(callee.base, Name):
            return False
        if self._project.resolver.method(cls, callee.name) is not None:
            return self.runs_parameters(cls, callee.name)
        stores = self._project.resolver.stores_of(callee)
        made = [store.value for store in stores if isinstance(store.value, Call)]
        return any(self._project.models.is_made_module(call) for call in made)

    def _led_to(self, backward: Call, frame: Frame | None) -> Iterator[Bypass]:
        for piece, inside in self._project.dependence.pieces(backward, frame, self._has_no_gradient):
            if isinstance(piece, Call) and not self._project.training.without_gradient(piece):
                found = self._bypass(piece, inside, backward)
                if found is not None:
                    yield found

    def _bypass(self, call: Call, frame: Frame | None, backward: Call) -> Bypass | None:
        callee = call.callee
        wrapped = self._project.models.bypassed(callee, frame)
        if wrapped is not None:
            return Bypass(call, wrapped, backward, _is_inside(callee))
        wrapped = self._project.models.bypassed(callee.base, frame) if isinstance(callee, Attribute) else None
        if wrapped is None or not isinstance(callee, Attribute):
            return None
        cls = self._project.models.class_inside(wrapped, frame)
        if callee.name != "forward" and (cls is None or not self.runs_parameters(cls, callee.name)):
            return None
        return Bypass(call, wrapped, backward, _is_inside(callee.base) and callee.name == "forward")

    def _has_no_gradient(self, piece: Expression, _: Frame | None) -> bool:
        if isinstance(piece, Call):
            return last_name(piece.callee) in _CUTS or self._project.training.without_gradient(piece)
        return isinstance(piece, Comparison) or (isinstance(piece, Attribute) and piece.name in ("data", "shape"))

    def _exchanges_gradients(self, site: Site) -> bool:
        if site.kind == FORWARD:
            return not self._project.training.without_gradient(site.collective)
        return any(
            _GRADIENT.search(last_name(part)) is not None
            for call in site.path
            for part in call.walk()
            if isinstance(part, Name | Attribute)
        )


def _is_inside(model: Expression) -> bool:
    return isinstance(model, Attribute) and model.name == "module"


def _starts_with(callee: Expression, owner: str) -> bool:
    while isinstance(callee, Attribute):
        callee = callee.base
    return isinstance(callee, Name) and callee.id == owner
