"""The text that an expression makes, as far as it can be read off the code."""

from __future__ import annotations

import re
import string
from typing import Any

from ddplint.semantics.expressions import Attribute, Call, Constant, Expression, FormattedText, Operation, Sequence
from ddplint.semantics.resolve import Origin, Resolver

# Stands for the pieces that are not known.
HOLE = "\N{REPLACEMENT CHARACTER}"
_PERCENT = re.compile(r"%(?:\((?P<name>\w+)\))?[sdr]")
_DEEPEST = 12


class Texts:
    """Reads texts: literals, f-strings, ``+``, ``%``, ``.format`` and ``str``, through names and across files.

    ``as_written``: names are not followed, which costs nothing; what they stand for are holes then.
    """

    def __init__(self, resolver: Resolver, *, as_written: bool = False) -> None:
        self._resolver = resolver
        self._as_written = as_written

    def of(self, origin: Origin, depth: int = 0) -> str:
        """Return the text that an origin makes, with a HOLE for each piece that is not known."""
        if depth > _DEEPEST:
            return HOLE
        if isinstance(origin, Constant):
            return str(origin.value)
        if isinstance(origin, FormattedText):
            return "".join(piece if isinstance(piece, str) else self._piece(piece, depth) for piece in origin.pieces)
        if isinstance(origin, Operation):
            return self._operation(origin, depth)
        return self._call(origin, depth) if isinstance(origin, Call) else HOLE

    def _piece(self, expression: Expression, depth: int) -> str:
        """Return the only text that an expression inside another can be."""
        if self._as_written:
            return self.of(expression, depth + 1)
        texts = {self.of(origin, depth + 1) for origin in self._resolver.origins(expression)}
        return texts.pop() if len(texts) == 1 else HOLE

    def _operation(self, operation: Operation, depth: int) -> str:
        pieces = [self._piece(operand, depth) for operand in operation.operands]
        if operation.operator == "+":
            return "".join(pieces)
        if operation.operator != "%":
            return HOLE
        values = operation.operands[1]
        items = [self._piece(item, depth) for item in values.items] if isinstance(values, Sequence) else pieces[1:]
        given = iter(items)
        return _PERCENT.sub(lambda match: HOLE if match["name"] else next(given, HOLE), pieces[0])

    def _call(self, call: Call, depth: int) -> str:
        if self._resolver.names(call.callee) == {"builtins.str"} and len(call.arguments) == 1:
            return self._piece(call.arguments[0].value, depth)
        if not isinstance(call.callee, Attribute) or call.callee.name != "format":
            return HOLE
        template = self._piece(call.callee.base, depth)
        positional = [self._piece(given.value, depth) for given in call.arguments if given.keyword is None]
        named = {given.keyword: self._piece(given.value, depth) for given in call.arguments if given.keyword}
        try:
            return _Formatter().format(template, *positional, **named)
        except ValueError:
            return HOLE


class _Formatter(string.Formatter):
    """Fills in what is known, leaves a hole for the rest, and never looks into a value."""

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> object:
        try:
            return super().get_value(key, args, kwargs)
        except LookupError:
            return HOLE

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[object, str]:
        name = field_name.replace("[", ".").partition(".")[0]
        return (super().get_field(name, args, kwargs)[0], name) if name == field_name else (HOLE, name)

    def format_field(self, value: object, format_spec: str) -> str:
        del format_spec
        return str(value)
