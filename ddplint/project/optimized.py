"""The models whose parameters an optimizer is given, and what becomes of them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.conditions import contradict
from ddplint.semantics.expressions import last_name
from ddplint.semantics.shown import written
from ddplint.semantics.structure import Binding, BindingKind, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_OPTIMIZERS = "torch.optim."
_NO_OPTIMIZERS = ("torch.optim.lr_scheduler.", "torch.optim.swa_utils.")
_PARAMETERS = frozenset({"parameters", "named_parameters"})
_COPIES = frozenset({"copy.deepcopy"})
_DDP = "torch.nn.parallel.DistributedDataParallel"
# Methods of a module that return the module.
_RETURNS_SELF = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "apply"})
_CASTS = frozenset({"half", "double", "bfloat16"})
_TYPES = frozenset({"torch.float16", "torch.half", "torch.bfloat16", "torch.float64", "torch.double"})
_ADDS = frozenset({"param_groups", "add_param_group"})

# A place that gives a name or an attribute another value.
_Given: TypeAlias = Binding | Store


class LeftBehind(Enum):
    """Why an optimizer no longer has what the model needs."""

    REBUILT = "the model is another one"
    REPLACED = "a part of the model is another one"
    CAST = "its state was loaded before the model was cast"


@dataclass(frozen=True, slots=True)
class LostParameters:
    """A change of a model behind an optimizer that was made of its parameters."""

    at: _Given | Call
    model: Expression
    optimizer: Call
    how: LeftBehind


@dataclass(frozen=True, slots=True)
class LonePart:
    """A module whose parameters an optimizer is given, and that stands in no wrapper beside a model that does."""

    module: Expression
    optimizer: Call
    wrap: Call


class Optimized:
    """Answers for the optimizers of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def models(self, script: Script) -> Iterator[tuple[Call, Expression]]:
        """Yield each call that makes an optimizer of torch, with a model whose parameters it is given."""
        for call in script.calls:
            if not self._is_optimizer(call):
                continue
            for given in call.arguments:
                for part in given.value.walk():
                    if isinstance(part, Attribute) and part.name in _PARAMETERS:
                        yield call, part.base

    def lost(self, script: Script) -> Iterator[LostParameters]:
        """Yield what is done to a model, in the same function, that its optimizer does not learn of.

        Left out are functions that change the groups of an optimizer, or make another one of the model afterwards.
        """
        for optimizer, model in self.models(script):
            for change in self._changes(optimizer, model, script):
                if not self._is_made_anew(change, script):
                    yield change

    def lone(self, script: Script) -> Iterator[LonePart]:
        """Yield the modules that are trained in a function without a wrapper, beside a model in DDP.

        Only modules with parameters count, that are made in the function, are never handed to anything that may wrap
        or hold them, and whose gradients nobody exchanges.
        """
        content = b"\n".join(self._project.contents(script))
        if b".grad" in content and b"all_reduce" in content:
            return
        seen: set[int] = set()
        for optimizer, model in self.models(script):
            made = self._made_alone(model) if isinstance(model, Name) else None
            wraps = [wrap for wrap in self._project.calls(script, _DDP) if wrap.scope is optimizer.scope]
            wraps = [wrap for wrap in wraps if not contradict(wrap.region, optimizer.region)]
            if made is None or not wraps or id(made) in seen or self._is_of_one_rank(made):
                continue
            seen.add(id(made))
            yield LonePart(model, optimizer, wraps[0])

    def _is_optimizer(self, call: Call) -> bool:
        names = self._project.names(call.callee)
        return any(name.startswith(_OPTIMIZERS) and not name.startswith(_NO_OPTIMIZERS) for name in names)

    def _changes(self, optimizer: Call, model: Expression, script: Script) -> Iterator[LostParameters]:
        for given, value in self._given(model, optimizer, script):
            if self._is_new(value, model):
                yield LostParameters(given, model, optimizer, LeftBehind.REBUILT)
        for store in script.stores:
            if store.name is None or store.augmented or not self._is_later(store, optimizer):
                continue
            if written(store.base) == written(model) and store.value is not None and self._is_new(store.value, model):
                yield LostParameters(store, model, optimizer, LeftBehind.REPLACED)
        loads = [call for call in script.calls if self._loads_into(call, optimizer)]
        for call in script.calls if loads else ():
            if self._casts(call, model) and self._is_later(call, loads[0]):
                yield LostParameters(call, model, optimizer, LeftBehind.CAST)

    def _given(self, model: Expression, optimizer: Call, script: Script) -> Iterator[tuple[_Given, Expression]]:
        """Yield the later places of the function that give the model's name another value."""
        if isinstance(model, Name):
            for binding in optimizer.scope.bindings.get(model.id, ()):
                plain = binding.kind is BindingKind.ASSIGNMENT and not binding.path
                if plain and binding.value is not None and self._is_later(binding, optimizer):
                    yield binding, binding.value
        elif isinstance(model, Attribute):
            for store in script.attribute_stores.get(model.name, ()):
                same = written(store.base) == written(model.base) and not store.path and store.value is not None
                if same and store.value is not None and self._is_later(store, optimizer):
                    yield store, store.value

    def _is_later(self, place: _Given | Call, than: Call) -> bool:
        """Whether a place of the same function comes after a call, in the same round of the same loops."""
        return (
            place.region.scope is than.region.scope
            and place.order > than.order
            and place.region.loops == than.region.loops
            and not contradict(place.region, than.region)
        )

    def _is_new(self, value: Expression, model: Expression) -> bool:
        """Whether a value certainly is a module with parameters of its own, and none of the model's."""
        while isinstance(value, Call) and isinstance(value.callee, Attribute) and value.callee.name in _RETURNS_SELF:
            value = value.callee.base
        if not isinstance(value, Call):
            return False
        if self._project.names(value.callee) and self._project.names(value.callee) <= _COPIES:
            return any(written(given.value) == written(model) for given in value.arguments)
        if any(written(part) == written(model) for part in value.walk()):
            return False
        return self._project.parts.has_parameters(value) and all(self._is_no_module(part) for part in value.walk())

    def _is_no_module(self, part: Expression) -> bool:
        """Whether a part of a call does not hand in a module from elsewhere."""
        return not isinstance(part, Name) or not any(
            isinstance(origin, Call) and self._project.models.is_made_module(origin)
            for origin in self._project.origins(part)
        )

    def _loads_into(self, call: Call, optimizer: Call) -> bool:
        callee = call.callee
        if not isinstance(callee, Attribute) or callee.name != "load_state_dict" or not self._is_later(call, optimizer):
            return False
        return optimizer in self._project.origins(callee.base)

    def _casts(self, call: Call, model: Expression) -> bool:
        callee = call.callee
        if not isinstance(callee, Attribute) or written(callee.base) != written(model):
            return False
        names = {name for given in call.arguments for name in self._project.names(given.value)}
        return callee.name in _CASTS or (callee.name == "to" and bool(names & _TYPES))

    def _is_made_anew(self, change: LostParameters, script: Script) -> bool:
        """Whether a function may tell an optimizer of a change."""
        scope = change.optimizer.scope
        if any(read.name in _ADDS and read.scope is scope for read in script.attributes):
            return True
        later = [call for call in script.calls if call.scope is scope and call.order > change.at.order]
        return any(self._is_optimizer(call) or "optim" in last_name(call.callee).lower() for call in later)

    def _made_alone(self, model: Name) -> Call | None:
        """Return the call that makes a module which stays alone: nothing that is done with it can wrap or hold it."""
        bindings = model.scope.bindings.get(model.id, [])
        made = [binding.value for binding in bindings if not self._is_moved(binding)]
        if len(made) != 1 or made[0] is None or any(binding.path for binding in bindings):
            return None
        value = made[0]
        while isinstance(value, Call) and isinstance(value.callee, Attribute) and value.callee.name in _RETURNS_SELF:
            value = value.callee.base
        if not isinstance(value, Call) or not self._project.parts.has_parameters(value):
            return None
        reads = [name for name in model.scope.script.names if name.id == model.id]
        alone = all(self._stays_alone(read) for read in reads)
        return value if alone and self._project.models.is_made_module(value) else None

    def _is_moved(self, binding: Binding) -> bool:
        """Whether a name gets what it held already: ``head = head.to(device)``."""
        value = binding.value
        while isinstance(value, Call) and isinstance(value.callee, Attribute) and value.callee.name in _RETURNS_SELF:
            value = value.callee.base
        return isinstance(value, Name) and value.id == binding.name

    def _stays_alone(self, read: Name) -> bool:
        around = self._project.uses(read.scope.script).parent(read)
        if isinstance(around, Attribute):
            return True
        if not isinstance(around, Call):
            return False
        if around.callee is read:
            return True
        function = self._project.resolver.function_of(around)
        if function is None or function.name == "__init__":
            return False
        onward = self._project.reach.onward([around])
        return not any(_DDP in self._project.names(call.callee) for call in onward)

    def _is_of_one_rank(self, made: Call) -> bool:
        """Whether a module is told its rank: it may hold a share of its own on each."""
        given = [argument.value for argument in made.arguments]
        return any("rank" in written(value).lower() or "world" in written(value).lower() for value in given)
