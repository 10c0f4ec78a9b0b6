"""What a call does with an argument: look at it, run over it, keep it, hand it to a function of the project."""

from __future__ import annotations

from dataclasses import dataclass

from ddplint.project.trail import ANY_ITEM, INSIDE, ITERATOR, Step, Steps, Way, picked
from ddplint.semantics import Argument, Attribute, Call, Constant, Expression, Sequence
from ddplint.semantics.launchers import launched, launched_arguments
from ddplint.semantics.resolve import Resolver, is_static
from ddplint.semantics.structure import Class, Function, Parameter
from ddplint.semantics.torch_names import signature

# Documented name -> parameter -> the attributes that lead from the object that is made to the argument.
_KEEPERS: dict[str, dict[str, tuple[str, ...]]] = {
    "torch.utils.data.DataLoader": {
        "dataset": ("dataset",),
        "sampler": ("sampler", "batch_sampler.sampler"),
        "batch_sampler": ("batch_sampler",),
    },
    "torch.utils.data.BatchSampler": {"sampler": ("sampler",)},
    "torch.utils.data.distributed.DistributedSampler": {"dataset": ("dataset",)},
    "torch.utils.data.RandomSampler": {"data_source": ("data_source",)},
    "torch.utils.data.SequentialSampler": {"data_source": ("data_source",)},
}
_RUNS_OVER = frozenset(
    {f"builtins.{name}" for name in ("enumerate", "iter", "list", "map", "reversed", "sorted", "tuple", "zip")}
    | {f"itertools.{name}" for name in ("chain", "cycle", "islice", "zip_longest")}
    | {"rich.progress.track"}
)
_LOOKS_AT = frozenset(
    f"builtins.{name}"
    for name in (
        *("all", "any", "bool", "callable", "dir", "format", "hasattr", "hash", "id", "int", "isinstance", "len"),
        *("issubclass", "max", "min", "print", "range", "repr", "str", "sum", "super", "type", "vars"),
    )
)
# Methods that put their argument into the container they belong to: True when it becomes an element of it.
_TAKES_IN = {"append": True, "add": True, "insert": True, "appendleft": True, "extend": False, "update": False}


@dataclass(frozen=True, slots=True)
class Handed:
    """What a call does with a value that one of its arguments is or holds.

    ``results``: ways from the call's result to the value. ``parameter`` gets it, or ``container`` takes it in, or a
    field of ``made`` is set to it, ``steps`` away. ``runs_over``: the result runs over it. ``takes_next``: one element
    is taken out of it. ``lost``: it goes where nobody can look.
    """

    results: tuple[Steps, ...] = ()
    parameter: Parameter | None = None
    container: Expression | None = None
    made: Class | None = None
    steps: Steps = ()
    runs_over: bool = False
    takes_next: bool = False
    lost: bool = False


class Handing:
    """Answers for the calls of every script that its resolver knows."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def of(self, call: Call, argument: Argument, steps: Steps) -> Handed:
        """Return what becomes of the value that an argument leads to by ``steps``."""
        place: int | None = call.arguments.index(argument)
        keyword = argument.keyword
        if argument.star:
            if not steps or steps[0].way is not Way.ITEM:
                return Handed(lost=True)
            key, steps = steps[0].key, steps[1:]
            keyword = key if argument.star == "**" and isinstance(key, str) else None
            place = place + key if argument.star == "*" and place is not None and isinstance(key, int) else None
        handed = self._builtin(call, keyword, steps) or self._taken_in(call, steps)
        return handed or self._into(call, place, keyword, steps)

    def _builtin(self, call: Call, keyword: str | None, steps: Steps) -> Handed | None:
        names = self._resolver.names(call.callee)
        if names <= _LOOKS_AT:
            return Handed()
        if names & _RUNS_OVER or any(name.partition(".")[0] == "tqdm" for name in names):
            return Handed(runs_over=True)
        if names == {"builtins.next"}:
            return Handed(takes_next=True)
        if names == {"builtins.dict"}:
            return Handed(results=(steps if keyword is None else (Step(Way.ITEM, keyword), *steps),))
        if names == {"builtins.getattr"}:
            name = constant(call.arguments[1].value) if len(call.arguments) > 1 else None
            if steps and steps[0] == Step(Way.FIELD, name):
                return Handed(results=(steps[1:],))
            return Handed(lost=not steps)
        return None

    def _taken_in(self, call: Call, steps: Steps) -> Handed | None:
        callee = call.callee
        if not isinstance(callee, Attribute) or callee.name not in _TAKES_IN or self._resolver.function_of(call):
            return None
        if _TAKES_IN[callee.name]:
            return Handed(container=callee.base, steps=(ANY_ITEM, *steps))
        return Handed(container=callee.base, steps=steps) if steps else Handed()

    def _into(self, call: Call, place: int | None, keyword: str | None, steps: Steps) -> Handed:
        kept = self._kept(call, place, keyword, steps)
        function = self._resolver.function_of(call)
        if function is not None:
            return self._into_function(function, place, keyword, steps, kept or ())
        target = launched(self._resolver, call)
        if target is not None:
            return self._launched(call, target, steps)
        if kept is not None:
            return Handed(results=kept)
        made = self._resolver.classes(call.callee)
        if made and keyword is not None:  # a dataclass or a named tuple: its fields are named like its arguments
            return Handed(results=((Step(Way.FIELD, keyword), *steps),), made=made[0], steps=steps)
        return Handed(results=((INSIDE, *steps),) if _may_keep(call.callee) else (), lost=True)

    def _kept(self, call: Call, place: int | None, keyword: str | None, steps: Steps) -> tuple[Steps, ...] | None:
        for kind in self._resolver.kinds(call.callee) & _KEEPERS.keys():
            parameters = signature(kind) or ()
            name = parameters[place] if keyword is None and place is not None and place < len(parameters) else keyword
            ways = _KEEPERS[kind].get(name or "", ())
            return tuple((*(Step(Way.FIELD, field) for field in way.split(".")), *steps) for way in ways)
        return None

    def _into_function(
        self, function: Function, place: int | None, keyword: str | None, steps: Steps, kept: tuple[Steps, ...]
    ) -> Handed:
        parameter = _parameter(function, place, keyword)
        if parameter is None:
            return Handed(results=kept, lost=True)
        inner = {"**": (Step(Way.ITEM, keyword), *steps), "*": (ANY_ITEM, *steps)}.get(parameter.kind, steps)
        results = kept
        if function.yields:
            results = (*results, (ITERATOR, *steps))
        elif function.name == "__init__" and not kept:
            results = (*results, (INSIDE, *steps))
        return Handed(results=results, parameter=parameter, steps=inner)

    def _launched(self, call: Call, target: Expression, steps: Steps) -> Handed:
        """Look into ``args=(…)`` of a launcher for the parameter that an element becomes."""
        displays = [argument.value for argument in call.arguments if isinstance(argument.value, Sequence)]
        for function in self._resolver.origins(target):
            if isinstance(function, Function) and steps and isinstance(steps[0].key, int) and displays:
                item = displays[0].items[steps[0].key]
                for name, value in (launched_arguments(self._resolver, call, function) or {}).items():
                    if value is item:
                        return Handed(parameter=function.parameter(name), steps=steps[1:])
        return Handed(lost=True)


def constant(expression: Expression | None) -> object:
    """Return the value of a constant, None for everything else."""
    return expression.value if isinstance(expression, Constant) else None


def given_out(method: str, steps: Steps, key: object) -> Steps | None:
    """Return the steps from the result of a container's method to the value that the container holds, if any."""
    if method in ("get", "pop", "setdefault", "__getitem__"):
        return picked(steps, key)
    if method in ("values", "items"):
        return (ITERATOR, *steps)
    return steps if method == "copy" else None


def _parameter(function: Function, place: int | None, keyword: str | None) -> Parameter | None:
    """Return the parameter that takes an argument, ``*args`` and ``**kwargs`` included."""
    if keyword is not None:
        named = function.parameter(keyword)
        return named or next((parameter for parameter in function.parameters if parameter.kind == "**"), None)
    positional = [parameter for parameter in function.parameters if parameter.kind == "positional"]
    shift = 1 if function.cls is not None and not is_static(function) else 0
    if place is not None and place + shift < len(positional):
        return positional[place + shift]
    return next((parameter for parameter in function.parameters if parameter.kind == "*"), None)


def _may_keep(callee: Expression) -> bool:
    """Whether what is called is named like something that wraps what it is given: a class, a prefetcher."""
    name = callee.name if isinstance(callee, Attribute) else getattr(callee, "id", "")
    return name[:1].isupper() or any(part in name.lower() for part in ("load", "sampl", "fetch", "prepare", "wrap"))
