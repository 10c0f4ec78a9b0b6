"""Calls that run a function elsewhere: in processes, threads or later."""

from __future__ import annotations

from ddplint.semantics.expressions import Call, Expression, Sequence
from ddplint.semantics.names import NameResolver
from ddplint.semantics.structure import Function

# Documented name -> (the parameter that takes the function, its place, what it hands the function before ``args``).
_LAUNCHERS = {
    "torch.multiprocessing.spawn": ("fn", 0, 1),
    "torch.multiprocessing.start_processes": ("fn", 0, 1),
    "torch.multiprocessing.Process": ("target", 1, 0),
    "multiprocessing.Process": ("target", 1, 0),
    "threading.Thread": ("target", 1, 0),
}

# Their last names, for those who look at many calls.
LAUNCHER_NAMES = frozenset(name.rpartition(".")[2] for name in _LAUNCHERS)


def _row(names: NameResolver, call: Call) -> tuple[str, int, int] | None:
    return next((_LAUNCHERS[name] for name in names.names(call.callee) if name in _LAUNCHERS), None)


def launched(names: NameResolver, call: Call) -> Expression | None:
    """Return the function that a call of a launcher is given to run, None for other calls."""
    row = _row(names, call)
    if row is None:
        return None
    keyword, place, _ = row
    for number, argument in enumerate(call.arguments):
        if argument.keyword == keyword or (argument.keyword is None and not argument.star and number == place):
            return argument.value
    return None


def launched_arguments(names: NameResolver, call: Call, function: Function) -> dict[str, Expression] | None:
    """Return what a launcher hands to each parameter of its function, None when the call is no launcher.

    The process index that ``spawn`` puts first is left out, as are arguments that are no tuple display.
    """
    row = _row(names, call)
    if row is None:
        return None
    given: dict[str, Expression] = {}
    for number, argument in enumerate(call.arguments):
        if argument.keyword == "args" or (argument.keyword is None and number == 1 and row[2]):
            items = argument.value.items if isinstance(argument.value, Sequence) else ()
            for parameter, item in zip(function.parameters[row[2] :], items, strict=False):
                given[parameter.name] = item
    return given


def process_index(names: NameResolver, call: Call, function: Function) -> str | None:
    """Return the parameter in which a spawned function gets the index of its process, None for other calls."""
    row = _row(names, call)
    return function.parameters[0].name if row is not None and row[2] and function.parameters else None
