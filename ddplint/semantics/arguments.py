"""Arguments bound to the parameters of what is called."""

from __future__ import annotations

from enum import Enum

from ddplint.semantics.expressions import Call, Constant, Expression, Mapping
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.torch_names import signature


class Missing(Enum):
    """Why there is no expression for a parameter."""

    ABSENT = "the call does not give it"
    UNKNOWN = "the call may give it through * or **, or the signature is not known"


def argument(resolver: Resolver, call: Call, name: str) -> Expression | Missing:
    """Return what a call gives for a parameter: by keyword, by place, or inside a ``**`` dict that can be read."""
    for given in call.arguments:
        if given.keyword == name:
            return given.value
    place = _place(resolver, call, name)
    positional = [given for given in call.arguments if given.keyword is None and given.star != "**"]
    starred = next((number for number, given in enumerate(positional) if given.star), len(positional))
    if place is not None and place < starred:
        return positional[place].value
    if place is not None and starred < len(positional):
        return Missing.UNKNOWN
    return _in_mappings(resolver, call, name)


def _place(resolver: Resolver, call: Call, name: str) -> int | None:
    function = resolver.function_of(call)
    if function is None:
        signatures = (signature(callee) for callee in resolver.kinds(call.callee))
        return next((row.index(name) for row in signatures if row is not None and name in row), None)
    parameter = function.parameter(name)
    if parameter is None or parameter.kind != "positional":
        return None
    return parameter.index - (1 if function.cls is not None else 0)


def _in_mappings(resolver: Resolver, call: Call, name: str) -> Expression | Missing:
    answer: Expression | Missing = Missing.ABSENT
    for given in call.arguments:
        if given.star != "**":
            continue
        origins = resolver.origins(given.value)
        if len(origins) != 1 or not isinstance(origins[0], Mapping):
            return Missing.UNKNOWN
        for key, value in origins[0].items:
            if not isinstance(key, Constant):
                answer = Missing.UNKNOWN
            elif key.value == name:
                return value
        if resolver.written_later(given.value):
            answer = Missing.UNKNOWN
    return answer
