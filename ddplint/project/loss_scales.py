"""Steps under a scaled loss: what happens to gradients between the backward pass and the scaler's step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from ddplint.project.acts import Act
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script
from ddplint.semantics.reaching import reaching
from ddplint.semantics.shown import shown
from ddplint.semantics.structure import Function, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_SCALERS = frozenset({"torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler"})
_CLIPS = frozenset(f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"))


class _Event(Enum):
    """What a call does with gradients, or what the scaler does with them."""

    SCALED = "a backward pass from a scaled loss"
    PLAIN = "another backward pass"
    UNSCALED = "unscale_, or a call that may come to it"
    STEP = "a step of the scaler"
    CLIP = "the gradients are clipped"


_Placed: TypeAlias = tuple[Act, _Event]


@dataclass(frozen=True, slots=True)
class ScaledClip:
    """A call that clips gradients while they carry the scale of the loss, and what it stands between.

    ``unscale``: the line that can stand before it in every pass, None where that is not certain.
    """

    clip: Call
    backward: Call
    step: Call
    unscale: str | None


class LossScales:
    """Follows the scaled gradients of each function from call to call."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def clips(self, script: Script) -> Iterator[ScaledClip]:
        """Yield the calls of a script that clip gradients which are still scaled."""
        for function in (None, *script.functions):
            acts = self._project.acts.of(function, script)
            if any(_method(act.call) == "backward" for act in acts):
                yield from self._clips_in(acts)

    def _clips_in(self, acts: Sequence[Act]) -> Iterator[ScaledClip]:
        scalers = [found for act in acts if (found := self._scaler_of(act.call)) is not None]
        events = [(act, event) for act in acts if scalers and (event := self._event(act.call, scalers)) is not None]
        for place, (clip, event) in enumerate(events):
            if event is not _Event.CLIP:
                continue
            backward = self._scaled_before(clip, events[:place])
            step = self._step_after(clip, events[place + 1 :])
            if backward is None or step is None or clip.place is backward.place is step.place:
                continue
            scaler, scaled_by = _receiver(step.call), self._scaler_of(backward.call)
            if scaled_by is not None and self._project.acts.same(scaler, scaled_by) and self._may_scale(scaler):
                alone = len(clip.path) == len(step.path) == 1 and _stands_alone(clip, events)
                unscale = self._unscale(clip.call, step.call, acts) if alone else None
                yield ScaledClip(clip.place, backward.call, step.call, unscale)

    def _scaled_before(self, clip: Act, events: Sequence[_Placed]) -> Act | None:
        """Return the scaled backward pass whose gradients a clip sees as they are, None when there is none.

        Another backward pass after it mixes in gradients that are not scaled, unless it is the other way.
        """
        plain: list[Act] = []
        for act, event in _met(clip, reversed(events)):
            if event is _Event.PLAIN:
                plain.append(act)
            elif event is _Event.SCALED and all(other.excludes(act) for other in plain):
                return act
            else:
                return None
        return None

    def _step_after(self, clip: Act, events: Sequence[_Placed]) -> Act | None:
        """Return the step of the scaler that comes next after a clip, None where something else does."""
        act, event = next(_met(clip, events), (None, None))
        return act if event is _Event.STEP else None

    def _event(self, call: Call, scalers: Sequence[Expression]) -> _Event | None:
        method = _method(call)
        if method == "backward":
            return _Event.PLAIN if self._scaler_of(call) is None else _Event.SCALED
        if method == "unscale_":
            return _Event.UNSCALED
        if method in ("step", "update", "scale"):
            mine = any(self._project.acts.same(_receiver(call), scaler) for scaler in scalers)
            return _Event.STEP if mine and method == "step" and len(call.arguments) == 1 else None
        if self._project.names(call.callee) & _CLIPS:
            return _Event.CLIP
        if self._project.acts.helper(call) is not None:
            return None  # what it does is listed call by call
        function = self._project.resolver.function_of(call)
        if function is None:
            return _Event.UNSCALED if self._takes_scaler(call) else None
        return self._event_of(function)

    def _event_of(self, function: Function) -> _Event | None:
        """Return what a function of another file does with gradients that its caller made."""
        calls = list(self._project.reach.onward(self._project.reach.calls_in(function.outermost)))
        methods = {_method(call) for call in calls}
        if "unscale_" in methods or methods & {"scale", "backward"}:
            return _Event.UNSCALED
        return _Event.CLIP if any(self._project.names(call.callee) & _CLIPS for call in calls) else None

    def _scaler_of(self, backward: Call) -> Expression | None:
        """Return the scaler of a loss that a backward pass starts from, None for a plain loss and other calls."""
        if _method(backward) != "backward":
            return None
        scaler = None
        for origin in self._project.origins(_receiver(backward)):
            if not isinstance(origin, Call) or _method(origin) != "scale" or not origin.arguments:
                return None
            scaler = _receiver(origin)
        return scaler

    def _takes_scaler(self, call: Call) -> bool:
        """Whether a call of something that can't be read is given a scaler."""
        return any(self._is_scaler(given.value) for given in call.arguments)

    def _is_scaler(self, expression: Expression) -> bool:
        return any(_SCALERS & self._kinds(origin) for origin in self._makers(expression))

    def _may_scale(self, scaler: Expression) -> bool:
        """Whether a scaler can be torch's, and switched on."""
        if self._project.resolver.class_of(scaler) is not None and not self._is_scaler(scaler):
            return False
        makers = [maker for maker in self._makers(scaler) if _SCALERS & self._kinds(maker)]
        return not makers or not all(map(self._is_off, makers))

    def _is_off(self, maker: Call) -> bool:
        enabled = self._project.argument(maker, "enabled")
        return isinstance(enabled, Expression) and self._project.constants(enabled) == frozenset({False})

    def _is_certain(self, scaler: Expression) -> bool:
        origins = [origin for origin in self._project.origins(scaler) if not _is_none(origin)]
        return bool(origins) and all(isinstance(origin, Call) and self._kinds(origin) & _SCALERS for origin in origins)

    def _makers(self, scaler: Expression) -> Iterator[Call]:
        return (origin for origin in self._project.origins(scaler) if isinstance(origin, Call))

    def _kinds(self, maker: Call) -> frozenset[str]:
        return self._project.resolver.kinds(maker.callee)

    def _unscale(self, clip: Call, step: Call, acts: Sequence[Act]) -> str | None:
        """Return the line that divides the scale out, where each pass through the clip goes on to an update."""
        scaler, optimizer = _receiver(step), step.arguments[0].value
        named = [act for act in acts if _method(act.call) in ("step", "update")]
        mine = [act for act in named if self._project.acts.same(_receiver(act.call), scaler)]
        updates = [act.call for act in mine if _method(act.call) == "update" and len(act.path) == 1]
        update = next((call for call in updates if call.order > step.order), None)
        steps = [act for act in mine if _method(act.call) == "step" and not act.excludes(Act((clip,)))]
        if update is None or [act.call for act in steps] != [step] or not self._is_certain(scaler):
            return None
        stays = _stays(scaler, clip, step) and _stays(optimizer, clip, step)
        return f"{shown(scaler)}.unscale_({shown(optimizer)})" if stays and _leads_on(clip, step, update) else None


def _met(clip: Act, events: Iterable[_Placed]) -> Iterator[_Placed]:
    """Yield the events, clips left out, that a pass through a clip can go through."""
    return ((act, event) for act, event in events if event is not _Event.CLIP and not act.excludes(clip))


def _stands_alone(clip: Act, events: Sequence[_Placed]) -> bool:
    """Whether nothing else in a function clips or unscales in the same pass."""
    others = (act for act, event in events if event in (_Event.CLIP, _Event.UNSCALED) and act is not clip)
    return all(other.excludes(clip) for other in others)


def _leads_on(clip: Call, step: Call, update: Call) -> bool:
    """Whether every pass through a clip goes through the step and the update before the next one."""
    loops = clip.region.loops
    if loops != step.region.loops or loops != update.region.loops:
        return False
    if not (clip.region.within(step.region) and clip.region.within(update.region)):
        return False
    exits = clip.scope.script.exits
    if any(clip.order < leave.order < update.order and leave.region.scope is clip.region.scope for leave in exits):
        return False
    for region in clip.region.chain():
        if region.kind is RegionKind.LOOP:
            return True
        if region.kind in (RegionKind.TRY, RegionKind.HANDLER, RegionKind.FINALLY):
            return False
    return True


def _stays(expression: Expression, clip: Call, step: Call) -> bool:
    """Whether an expression of the step means the same thing at the clip: a name, or an attribute of one."""
    root, names = expression, set()
    while isinstance(root, Attribute):
        names.add(root.name)
        root = root.base
    if not isinstance(root, Name) or reaching(root.id, clip) != reaching(root.id, step):
        return False
    stores = (store for name in names for store in clip.scope.script.attribute_stores.get(name, ()))
    return not any(clip.order < store.order < step.order for store in stores)


def _method(call: Call) -> str:
    return call.callee.name if isinstance(call.callee, Attribute) else ""


def _receiver(call: Call) -> Expression:
    assert isinstance(call.callee, Attribute)
    return call.callee.base


def _is_none(origin: object) -> bool:
    return isinstance(origin, Constant) and origin.value is None
