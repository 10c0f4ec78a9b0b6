"""Whether what a call makes is trained: whether a backward pass is in reach of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ddplint.project.instances import Instances
from ddplint.project.reach import Reach, body_of
from ddplint.semantics import Attribute, Call, Constant, Expression, Name
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Class, Function, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_TRAINS = re.compile(
    r"(?:do_|run_|start_|main_)?(?:pre_?train|train|fine_?tune|fit)(?:er)?"
    r"(?:_(?:model|net|network|epoch|one_epoch|loop|step|func|fn|worker|process|main|val|and_\w+))?",
    re.IGNORECASE,
)
_OPTIMIZER = re.compile(r"optimi[sz]er", re.IGNORECASE)
_WITHOUT_GRADIENT = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
# Methods of a module that return the module.
_RETURNS_SELF = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "apply", "requires_grad_"})
# Functions through which a value is handed upwards before the trail is given up.
_DEEPEST = 6


class Training:
    """Answers whether backward passes are in reach."""

    def __init__(self, project: Project, reach: Reach, instances: Instances) -> None:
        self._project = project
        self._reach = reach
        self._instances = instances
        self._scenes: dict[int, Sequence[Call]] = {}

    def trains(self, made: Call) -> bool:
        """Whether the module that a call makes comes to a place that trains."""
        return bool(self.scene(made))

    def scene(self, made: Call) -> Sequence[Call]:
        """Return the calls that come before the module that a call makes is trained; none: it is not trained.

        Looked at are the function around the call and all that it runs, then, as far as the module is handed out of
        it, those who call the function or make its object. A call of something that can't be read counts where its
        name says that it trains, or that it makes an optimizer.
        """
        if id(made) not in self._scenes:
            self._scenes[id(made)] = next(filter(None, map(self._up_to_training, self._levels(made))), ())
        return self._scenes[id(made)]

    def _up_to_training(self, calls: Iterator[Call]) -> Sequence[Call]:
        """Return the calls up to the first that shows training, none when there is no such call."""
        passed = []
        for call in calls:
            passed.append(call)
            if self.shows_training(call):
                return passed
        return ()

    def runs_backward(self, made: Call) -> bool:
        """Whether the function around a call runs a backward pass of its own file, itself or through what it calls."""
        script = made.scope.script
        if not any(map(is_backward, script.calls)):
            return False
        return any(is_backward(call) for call in self._reach.onward(self._beside(made)) if call.scope.script is script)

    def is_set_up_beside(self, made: Call) -> bool:
        """Whether the function around a call itself runs a backward pass or makes an optimizer."""
        return any(self.shows_training(call) for call in self._beside(made))

    def without_gradient(self, at: Expression) -> bool:
        """Whether an expression certainly runs where no gradient is recorded."""
        function = at.scope.function
        contexts = [context for region in at.region.chain() for context in region.contexts]
        contexts += [] if function is None else function.decorators
        return any(
            self._project.names(context.callee if isinstance(context, Call) else context) & _WITHOUT_GRADIENT
            for context in contexts
        )

    def shows_training(self, call: Call) -> bool:
        """Whether a call is a backward pass, a step of an optimizer, or says that it leads to one."""
        if is_backward(call):
            return True
        names = self._project.names(call.callee)
        if any(name.startswith("torch.optim.") for name in names):
            return True
        if self._project.resolver.function_of(call) is not None:
            return False
        word = last_name(call.callee)
        return bool(_OPTIMIZER.search(word) or _TRAINS.fullmatch(word)) and not _leaves_training(call)

    def _levels(self, made: Call) -> Iterator[Iterator[Call]]:
        """Yield what runs beside a call, then beside those to whom its value is handed, and so on upwards."""
        seen: set[int] = set()
        level = [made]
        for _ in range(_DEEPEST):
            yield self._reach.onward([beside for call in level for beside in self._beside(call)])
            upward = [caller for call in level for caller in self._takers(call)]
            level = [call for call in {id(caller): caller for caller in upward}.values() if id(call) not in seen]
            seen.update(map(id, level))

    def _beside(self, made: Call) -> Iterator[Call]:
        """Yield the calls of the same body that one run can go through together with a call."""
        calls = self._reach.calls_in(body_of(made))
        return (call for call in calls if not call.region.excludes(made.region))

    def _takers(self, made: Call) -> Iterator[Call]:
        """Yield the calls through which the value of a call comes out of the function around it."""
        body = body_of(made)
        if not isinstance(body, Function):
            return
        if body.cls is not None and (body.name == "forward" or self._kept_on_self(made, body)):
            yield from self._uses_of_class(body.cls)
        if self._handed_out(made, body):
            yield from self._project.callers(body)[0]

    def _uses_of_class(self, cls: Class) -> Iterator[Call]:
        """Yield where objects of a class are made, and the calls of its methods that somebody may call."""
        yield from self._instances.of(cls)
        for method in cls.methods.values():
            callers, complete = self._project.callers(method)
            if callers or not complete:
                yield from self._reach.calls_in(method)[:1]

    def _kept_on_self(self, made: Call, method: Function) -> bool:
        owner = method.parameters[0].name if method.parameters else ""
        return any(_root(store.base) == owner for store in _stores_with(made, method))

    def _handed_out(self, made: Call, function: Function) -> bool:
        """Whether a function returns what a call makes, or puts it into something that its callers see."""
        handed = [*function.returns, *function.yields]
        names = _carrying(made, function)
        if names - function.scope.bindings.keys() or any(_reads(value, made, names) for value in handed):
            return True
        given = {parameter.name for parameter in function.parameters}
        stores = (store for store in function.script.stores if body_of(store.base) is function)
        return any(
            _root(store.base) in given and store.value is not None and _reads(store.value, made, names)
            for store in stores
        )


def is_backward(call: Call) -> bool:
    """Whether a call runs a backward pass or steps an optimizer."""
    if not isinstance(call.callee, Attribute):
        return False
    if call.callee.name in ("backward", "manual_backward"):
        return not (isinstance(call.callee.base, Call) and last_name(call.callee.base.callee) == "super")
    return call.callee.name == "step" and bool(re.search("optim|scaler", last_name(call.callee.base), re.IGNORECASE))


def _leaves_training(call: Call) -> bool:
    """Whether a call is ``model.train(False)``."""
    return any(isinstance(given.value, Constant) and given.value.value is False for given in call.arguments)


def _carrying(made: Call, function: Function) -> set[str]:
    """Return the names, in a function or outside it, that get what a call makes or something that holds it."""
    scopes = {id(scope): scope for scope in (function.scope, made.scope, *made.scope.outer_names.values())}
    bindings = [binding for scope in scopes.values() for bound in scope.bindings.values() for binding in bound]
    given = [(binding.name, binding.value) for binding in bindings]
    given += [(_root(store.base), store.value) for store in function.script.stores if body_of(store.base) is function]
    names: set[str] = set()
    grown = True
    while grown:
        gained = {name for name, value in given if value is not None and _reads(value, made, names)}
        grown = not gained <= names
        names |= gained
    return names


def _reads(value: Expression, made: Call, names: set[str]) -> bool:
    return any(part is made or (isinstance(part, Name) and part.id in names) for part in _held(value))


def _held(value: Expression) -> Iterator[Expression]:
    """Yield the parts of an expression that its value may hold: not the model that is called to make it."""
    pending = [value]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Call):
            pending.extend(given.value for given in part.arguments)
            if isinstance(part.callee, Attribute) and part.callee.name in _RETURNS_SELF:
                pending.append(part.callee.base)
        else:
            pending.extend(part.children)


def _stores_with(made: Call, function: Function) -> Sequence[Store]:
    return [store for store in function.script.stores if store.statement is made.statement]


def _root(expression: Expression) -> str:
    while not isinstance(expression, Name):
        inner = expression.children[:1]
        if not inner:
            return ""
        expression = inner[0]
    return expression.id
