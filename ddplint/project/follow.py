"""A value followed forward: through names, attributes, containers, arguments and returns into loaders and loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ddplint.project.handing import Handing, constant, given_out
from ddplint.project.trail import ANY_ITEM, ITERATOR, Pass, Reached, Step, Steps, Trail, Way, picked, unpacked
from ddplint.semantics import (
    Argument,
    Assigned,
    Attribute,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Logic,
    Mapping,
    Name,
    Operation,
    Passed,
    Script,
    Sequence,
    Subscript,
)
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Imported
from ddplint.semantics.structure import Binding, BindingKind, Class, Function, Loop, Parameter, ScopeKind, Store
from ddplint.semantics.uses import Uses

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Expressions on one trail; steps from one of them to the value; calls that are remembered on the way in.
LONGEST = 800
DEEPEST = 5
CONTEXT = 6
# More files of a program than this that mention an attribute's name: they are not searched for it.
SEARCHED_FOR_ATTRIBUTES = 40


class Follower:
    """Follows values through the scripts of a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.handing = Handing(project.resolver)
        self._uses: dict[int, Uses] = {}
        self._trails: dict[int, Trail] = {}

    def trail(self, start: Expression) -> Trail:
        """Return where the value of an expression goes."""
        if id(start) not in self._trails:
            self._trails[id(start)] = _Walk(self, start).trail()
        return self._trails[id(start)]

    def uses(self, script: Script) -> Uses:
        """Return the uses of a script's expressions."""
        if id(script) not in self._uses:
            self._uses[id(script)] = Uses(script)
        return self._uses[id(script)]

    def readers(self, script: Script, attribute: str) -> tuple[list[Script], bool]:
        """Return the scripts that run together with one and mention an attribute, and whether these are all."""
        path = self.project.scripts.path_of(script)
        if path is None:
            return [script], False
        word = attribute.encode()
        paths = [
            file for file in self.project.program(path) if file != path and word in self.project.files.content(file)
        ]
        complete = len(paths) <= SEARCHED_FOR_ATTRIBUTES
        scripts = [self.project.script(file) for file in paths] if complete else []
        return [script, *(found for found in scripts if found is not None)], complete and None not in scripts


class _Walk:
    """One value on its way; what each kind of use does with it is in the table at the end."""

    def __init__(self, follower: Follower, start: Expression) -> None:
        self._follower = follower
        self._project = follower.project
        self._resolver = follower.project.resolver
        self._start = start
        self._pending: deque[Reached] = deque()
        self._reached: dict[tuple[int, Steps, tuple[int, ...]], Reached] = {}
        self._held: set[tuple[int, Steps, tuple[int, ...]]] = set()
        self._fields: set[tuple[int, str, Steps]] = set()
        self._attributes: dict[int, Attribute] = {}
        self._stores: list[Store] = []
        self._passes: dict[Pass, None] = {}
        self._consumers: dict[int, Loop | Call] = {}
        self._words: set[str] = set()
        self._complete = True

    def trail(self) -> Trail:
        self._reach(self._start, (), ())
        while self._pending and len(self._reached) <= LONGEST:
            self._visit(self._pending.popleft())
        return Trail(
            self._start,
            tuple(self._reached.values()),
            tuple(self._attributes.values()),
            tuple(self._stores),
            tuple(self._passes),
            tuple(self._consumers.values()),
            frozenset(self._words),
            self._complete and not self._pending,
        )

    def _reach(self, at: Expression, steps: Steps, context: tuple[Call, ...]) -> None:
        key = (id(at), steps, tuple(map(id, context)))
        if len(steps) > DEEPEST:
            self._lose()
        elif key not in self._reached:
            self._reached[key] = Reached(at, steps, context)
            self._pending.append(self._reached[key])

    def _lose(self) -> None:
        self._complete = False

    def _visit(self, here: Reached) -> None:
        uses = self._follower.uses(here.at.scope.script)
        for binding in uses.bindings(here.at):
            if binding.kind is not BindingKind.LOOP:
                self._bind(binding, unpacked(here.steps, binding.path), here.context)
        for store in uses.stores(here.at):
            self._store(store, here)
        self._stores += uses.changes(here.at)
        for loop in uses.loops(here.at):
            self._loop(loop, here, uses)
        function = uses.returned_by(here.at)
        if function is not None:
            self._return(function, here.steps, here.context)
        parent = uses.parent(here.at)
        if parent is not None:
            _PARENTS.get(type(parent), _Walk._ignore)(self, parent, here)

    # Names, attributes, items.

    def _bind(self, binding: Binding, steps: Steps | None, context: tuple[Call, ...]) -> None:
        if steps is None:
            return
        self._words.add(binding.name)
        scope = binding.region.scope
        if scope.kind is ScopeKind.MODULE and self._project.is_read_elsewhere(scope, binding.name):
            self._lose()
        if scope.kind is ScopeKind.CLASS and scope.cls is not None:
            self._field(scope.cls, binding.name, steps)
        for read in self._follower.uses(scope.script).reads(binding):
            self._reach(read, steps, context if read.scope.function is scope.function else ())

    def _store(self, store: Store, here: Reached) -> None:
        steps = unpacked(here.steps, store.path)
        if steps is None:
            return
        step = Step(Way.ITEM, constant(store.index)) if store.name is None else Step(Way.FIELD, store.name)
        self._note(step.key)
        self._hold(store.base, (step, *steps), here.context)

    def _note(self, word: object) -> None:
        if isinstance(word, str):
            self._words.add(word)

    def _hold(self, holder: Expression, steps: Steps, context: tuple[Call, ...]) -> None:
        """Go on from the other places that name an object which was just given the value to keep."""
        key = (id(holder), steps, tuple(map(id, context)))
        if key in self._held or len(steps) > DEEPEST:
            return
        self._held.add(key)
        cls = self._resolver.class_of(holder) if steps[0].way is Way.FIELD else None
        if cls is not None:
            self._field(cls, str(steps[0].key), steps[1:])
        elif isinstance(holder, Name):
            bindings = reaching(holder.id, holder)
            if not bindings:
                self._lose()
            for binding in bindings or ():
                self._bind(binding, steps, context)
                if binding.parameter is not None:
                    self._hold_outside(binding.parameter, steps)
                elif isinstance(binding.value, (Name, Attribute, Subscript)) and not binding.path:
                    self._hold(binding.value, steps, context)
        elif isinstance(holder, Attribute):
            self._hold(holder.base, (Step(Way.FIELD, holder.name), *steps), context)
        elif isinstance(holder, Subscript):
            self._hold(holder.base, (Step(Way.ITEM, constant(holder.index)), *steps), context)
        else:
            self._lose()

    def _hold_outside(self, parameter: Parameter, steps: Steps) -> None:
        calls, complete = self._project.callers(parameter.function)
        for call in calls:
            given = self._resolver.bound(call, parameter.function).get(parameter.name)
            if given is not None:
                self._hold(given, steps, ())
        if not complete:
            self._lose()

    def _field(self, cls: Class, name: str, steps: Steps) -> None:
        """Go on from every place that reads an attribute of the instances of a class."""
        if (id(cls), name, steps) in self._fields:
            return
        self._fields.add((id(cls), name, steps))
        self._note(name)
        scripts, complete = self._follower.readers(cls.scope.script, name)
        if not complete:
            self._lose()
        for script in scripts:
            for attribute in self._follower.uses(script).attributes(name):
                owner = self._resolver.class_of(attribute.base)
                if owner is None:
                    if self._may_be_anything(attribute.base):
                        self._lose()
                elif cls in self._resolver.lineage(owner) or owner in self._resolver.lineage(cls):
                    self._reach(attribute, steps, ())

    def _may_be_anything(self, expression: Expression) -> bool:
        for origin in self._resolver.origins(expression):
            if isinstance(origin, Call):
                if any(name[0] in "?<" for name in self._project.names(origin.callee)):
                    return True
            elif not isinstance(origin, (Imported, Constant, Sequence, Mapping, Comprehension)):
                return True
        return False

    def _return(self, function: Function, steps: Steps, context: tuple[Call, ...]) -> None:
        self._words.add(function.name)
        if function.cls is not None and _is_property(function):
            self._field(function.cls, function.name, steps)
            return
        if context and self._resolver.function_of(context[-1]) is function:
            self._reach(context[-1], steps, context[:-1])
            return
        calls, complete = self._project.callers(function)
        for call in calls:
            self._reach(call, steps, ())
        if not calls or not complete or function.is_lambda:
            self._lose()

    # Loops.

    def _loop(self, loop: Loop, here: Reached, uses: Uses) -> None:
        steps = here.steps
        if steps and steps[0].way is Way.ITERATOR:
            steps = steps[1:]
        elif not steps or steps[0].way is not Way.ITEM:
            self._passes.setdefault(Pass(here.at, here.steps, here.context))
        if steps and steps[0].way is Way.ITEM:
            through = here.steps is not steps  # enumerate, zip and items() put more beside the element
            for binding in uses.bindings(here.at):
                rest = steps[1:] if through else unpacked(steps[1:], binding.path)
                self._bind(binding, rest, here.context)
        else:
            self._consumers[id(loop)] = loop

    def _run_over(self, call: Call, here: Reached) -> None:
        """Go on from a call that gives something which runs over the value."""
        if here.steps and here.steps[0].way is Way.ITERATOR:
            self._reach(call, here.steps, here.context)
            return
        if not here.steps or here.steps[0].way is not Way.ITEM:
            self._passes.setdefault(Pass(here.at, here.steps, here.context))
        self._reach(call, (ITERATOR, *here.steps), here.context)

    # The expressions around.

    def _ignore(self, parent: Expression, here: Reached) -> None:
        """Comparisons, tests, texts: what comes out of them is not the value."""

    def _same(self, parent: Expression, here: Reached) -> None:
        if not isinstance(parent, Conditional) or parent.test is not here.at:
            self._reach(parent, here.steps, here.context)

    def _passed(self, parent: Passed, here: Reached) -> None:
        if parent.kind == "yield from":
            self._passes.setdefault(Pass(here.at, here.steps, here.context))
            if parent.scope.function is not None:
                self._return(parent.scope.function, (ITERATOR, *here.steps), here.context)
        elif parent.kind == "yield":
            self._lose()
        else:
            self._same(parent, here)

    def _display(self, parent: Sequence, here: Reached) -> None:
        step = Step(Way.ITEM, next(place for place, item in enumerate(parent.items) if item is here.at))
        if isinstance(here.at, Passed) and here.at.kind == "*":
            if here.steps:
                self._reach(parent, (ANY_ITEM, *here.steps[1:]), here.context)
        else:
            self._reach(parent, (step, *here.steps), here.context)

    def _mapping(self, parent: Mapping, here: Reached) -> None:
        for key, value in parent.items:
            if value is here.at:
                self._note(constant(key))
                steps = here.steps if key is None else (Step(Way.ITEM, constant(key)), *here.steps)
                self._reach(parent, steps, here.context)

    def _comprehension(self, parent: Comprehension, here: Reached) -> None:
        if any(element is here.at for element in parent.elements):
            self._reach(parent, (ANY_ITEM, *here.steps), here.context)

    def _operation(self, parent: Operation, here: Reached) -> None:
        if here.steps and here.steps[0].way is Way.ITEM:  # a list joined to another one
            self._reach(parent, (ANY_ITEM, *here.steps[1:]), here.context)

    def _subscript(self, parent: Subscript, here: Reached) -> None:
        steps = picked(here.steps, constant(parent.index)) if parent.base is here.at else None
        if steps is not None:
            self._reach(parent, steps, here.context)

    def _attribute(self, parent: Attribute, here: Reached) -> None:
        self._attributes[id(parent)] = parent
        if not here.steps:
            return
        if here.steps[0].way is Way.FIELD and here.steps[0].key == parent.name:
            self._reach(parent, here.steps[1:], here.context)
        call = self._follower.uses(parent.scope.script).parent(parent)
        if here.steps[0].way is Way.ITEM and isinstance(call, Call) and call.callee is parent:
            key = constant(call.arguments[0].value) if call.arguments else None
            steps = given_out(parent.name, here.steps, key)
            if steps is not None:
                self._reach(call, steps, here.context)

    # Calls.

    def _call(self, parent: Call, here: Reached) -> None:
        for argument in parent.arguments:
            if argument.value is here.at:
                self._hand(parent, argument, here)

    def _hand(self, call: Call, argument: Argument, here: Reached) -> None:
        handed = self._follower.handing.of(call, argument, here.steps)
        if handed.lost:
            self._lose()
        if handed.runs_over:
            self._run_over(call, here)
        if handed.takes_next:
            self._consumers[id(call)] = call
        for steps in handed.results:
            self._reach(call, steps, here.context)
        if handed.container is not None:
            self._hold(handed.container, handed.steps, here.context)
        if handed.made is not None:
            self._field(handed.made, str(argument.keyword), handed.steps)
        if handed.parameter is not None:
            context = (*here.context, call)[-CONTEXT:]
            for binding in handed.parameter.function.scope.bindings.get(handed.parameter.name, ()):
                if binding.parameter is handed.parameter:
                    self._bind(binding, handed.steps, context)


def _is_property(function: Function) -> bool:
    return any(isinstance(decorator, Name) and "property" in decorator.id for decorator in function.decorators)


_PARENTS: dict[type[Expression], Callable[[_Walk, Any, Reached], None]] = {
    Assigned: _Walk._same,
    Attribute: _Walk._attribute,
    Call: _Walk._call,
    Comprehension: _Walk._comprehension,
    Conditional: _Walk._same,
    Logic: _Walk._same,
    Mapping: _Walk._mapping,
    Operation: _Walk._operation,
    Passed: _Walk._passed,
    Sequence: _Walk._display,
    Subscript: _Walk._subscript,
}
