"""Parameters that are frozen, woken or replaced after DistributedDataParallel has noted which ones it watches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import TYPE_CHECKING

from ddplint.project.models import Wrapper
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script, Subscript
from ddplint.semantics.arguments import Missing
from ddplint.semantics.conditions import contradict
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import BindingKind, Region, RegionKind, Scope, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_DDP = "torch.nn.parallel.DistributedDataParallel"
_PARAMETERS = frozenset({"parameters", "named_parameters"})


class LateKind(Enum):
    """What is done to the parameters."""

    FROZEN = "they get no gradient from then on"
    WOKEN = "they get one, and did not when the model was wrapped"
    REPLACED = "a part of the model is another one from then on"


@dataclass(frozen=True, slots=True)
class LateChange:
    """A change of a part of a model that certainly is wrapped by then. ``part``: what is changed."""

    at: Call | Store
    part: Expression
    wrap: Call
    kind: LateKind


@dataclass(frozen=True, slots=True)
class _Flip:
    """A place that sets ``requires_grad``. ``chosen``: a test in the loop over the parameters picks some of them."""

    at: Call | Store
    target: Expression
    value: bool
    chosen: bool


class LateChanges:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[LateChange]:
        """Yield the changes of parts of wrapped models in a script.

        Left out are changes of the whole model (as in the steps of a GAN), parts that are switched back on in the same
        function, those that a search for unused parameters makes up for, and models that are wrapped anew.
        """
        flips = list(_flips(script))
        for flip in flips:
            wrap = self._wrap_of(flip.target, flip.at, flip.chosen)
            if wrap is None or self._is_wrapped_anew(wrap, flip.at):
                continue
            if not flip.value and not self._searches(wrap) and not _is_switched_back(flip, flips):
                yield LateChange(flip.at, flip.target, wrap, LateKind.FROZEN)
            if flip.value and any(self._froze_before(other, flip, wrap) for other in flips):
                yield LateChange(flip.at, flip.target, wrap, LateKind.WOKEN)
        for store in script.stores:
            value = store.value
            if store.name is None or store.augmented or not isinstance(value, Call):
                continue
            if self._makes_parameters(value) and not any(part is store.base for part in value.walk()):
                wrap = self._wrap_of(store.base, store, part=True)
                if wrap is not None and not self._is_wrapped_anew(wrap, store):
                    yield LateChange(store, store.base, wrap, LateKind.REPLACED)

    def _wrap_of(self, target: Expression, at: Call | Store, part: bool) -> Call | None:
        """Return the wrapper that stands around the model of which an expression is a part, made before a place."""
        model = target
        while True:
            if isinstance(model, Attribute) and model.name == "module" and self._is_wrapped(model.base):
                return self._only_wrap(model.base) if part else None
            if part and self._is_wrapped(model):
                return self._only_wrap(model)
            if isinstance(model, Name):
                return self._earlier_wrap(model, at) if part else None
            if not isinstance(model, Attribute | Subscript):
                return None
            if part and isinstance(model, Attribute) and (wrap := self._earlier_wrap(model, at)) is not None:
                return wrap
            model, part = model.base, True

    def _is_wrapped(self, model: Expression) -> bool:
        return self._project.models.wrapped_once(model, Wrapper.DDP)

    def _only_wrap(self, model: Expression) -> Call | None:
        wraps = {id(wrap): wrap for wrap, _ in self._project.models.wraps(model, Wrapper.DDP)}
        return next(iter(wraps.values())) if len(wraps) == 1 else None

    def _earlier_wrap(self, model: Name | Attribute, at: Call | Store) -> Call | None:
        """Return the call that wrapped a model before a place of the same function."""
        for wrap in self._project.calls(at.region.scope.script, _DDP):
            module = self._project.argument(wrap, "module")
            if isinstance(module, Missing) or wrap.scope is not at.region.scope or wrap.order > at.order:
                continue
            if _is_same(module, model) and not contradict(wrap.region, at.region):
                return wrap
        return None

    def _is_wrapped_anew(self, wrap: Call, at: Call | Store) -> bool:
        """Whether the same function, or another method of its class, wraps a model behind a change."""
        others = [other for other in self._project.calls(at.region.scope.script, _DDP) if other is not wrap]
        return any(other.order > at.order and _is_near(other.region.scope, at.region.scope) for other in others)

    def _searches(self, wrap: Call) -> bool:
        """Whether a wrapper may look for the parameters that are not used, or has looked once."""
        given = [self._project.argument(wrap, name) for name in ("find_unused_parameters", "static_graph")]
        if self._project.mentions(wrap.scope.script, (b"_set_static_graph(",)):
            return True
        return any(
            one is not Missing.ABSENT and not (isinstance(one, Constant) and one.value is False) for one in given
        )

    def _froze_before(self, other: _Flip, flip: _Flip, wrap: Call) -> bool:
        """Whether a flip freezes the same part, under the same name, before the model is wrapped."""
        before = other.at.region.scope is wrap.scope and other.at.order < wrap.order
        return before and not other.value and last_name(other.target) == last_name(flip.target)

    def _makes_parameters(self, made: Expression) -> bool:
        """Whether a call makes a module, which may be moved at once."""
        while isinstance(made, Call) and isinstance(made.callee, Attribute) and made.callee.name in ("to", "cuda"):
            made = made.callee.base
        if not isinstance(made, Call):
            return False
        names = self._project.names(made.callee)
        if any(name.startswith(("torch.nn.init.", "torch.nn.functional.")) for name in names):
            return False
        return self._project.models.is_made_module(made)


def _flips(script: Script) -> Iterator[_Flip]:
    for call in script.calls:
        if isinstance(call.callee, Attribute) and call.callee.name == "requires_grad_":
            given = [argument.value for argument in call.arguments]
            if len(given) == 1 and isinstance(given[0], Constant) and isinstance(given[0].value, bool):
                yield _of(call, call.callee.base, given[0].value)
    for store in script.attribute_stores.get("requires_grad", ()):
        if isinstance(store.value, Constant) and isinstance(store.value.value, bool):
            yield _of(store, store.base, store.value.value)


def _of(at: Call | Store, base: Expression, value: bool) -> _Flip:
    bindings = reaching(base.id, base) if isinstance(base, Name) else None
    for binding in bindings or ():
        over = binding.value if binding.kind is BindingKind.LOOP else None
        if isinstance(over, Call) and isinstance(over.callee, Attribute) and over.callee.name in _PARAMETERS:
            return _Flip(at, over.callee.base, value, _is_chosen(at, binding.region))
    return _Flip(at, base, value, False)


def _is_chosen(at: Call | Store, loop: Region) -> bool:
    """Whether a test stands between a place and the loop around it."""
    inside = takewhile(lambda region: region is not loop, at.region.chain())
    return any(region.kind is RegionKind.BRANCH for region in inside)


def _is_switched_back(flip: _Flip, flips: list[_Flip]) -> bool:
    """Whether a part that is frozen is woken again in the same function."""
    return any(
        other.value
        and other.at.region.scope is flip.at.region.scope
        and last_name(other.target) == last_name(flip.target)
        for other in flips
    )


def _is_near(one: Scope, other: Scope) -> bool:
    """Whether two scopes are one, or those of two methods of a class."""
    classes = [None if scope.function is None else scope.function.cls for scope in (one, other)]
    return one is other or (classes[0] is not None and classes[0] is classes[1])


def _is_same(one: Expression, other: Expression) -> bool:
    """Whether two names, or attributes of two names, are of one object."""
    if isinstance(one, Attribute) and isinstance(other, Attribute):
        return one.name == other.name and _is_same(one.base, other.base)
    if not isinstance(one, Name) or not isinstance(other, Name) or one.id != other.id:
        return False
    return {id(binding) for binding in reaching(one.id, one) or ()} == {
        id(binding) for binding in reaching(other.id, other) or ()
    }
