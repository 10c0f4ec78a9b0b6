"""Expressions as rules see them: small objects made once from the syntax tree.

Each keeps its node (for places and edits), the statement and the region of control flow that it stands in, and its
number in evaluation order: what is computed first has the smaller number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from ddplint.semantics.structure import Function, Region, Scope, Statement


@dataclass(slots=True, eq=False, repr=False)
class Expression:
    """Anything that has a value. Equality is identity: two equal texts are two expressions."""

    node: cst.CSTNode
    statement: Statement
    region: Region
    order: int

    @property
    def children(self) -> tuple[Expression, ...]:
        """The expressions that this one is made of, in evaluation order."""
        return ()

    @property
    def scope(self) -> Scope:
        """The scope in which this expression's names are looked up."""
        return self.region.scope

    def walk(self) -> Iterator[Expression]:
        """Yield this expression and all below it, the outer before the inner; bodies of lambdas are left out."""
        pending = [self]
        while pending:
            expression = pending.pop()
            yield expression
            pending.extend(reversed(expression.children))


@dataclass(slots=True, eq=False, repr=False)
class Name(Expression):
    """A name that is read."""

    id: str


@dataclass(slots=True, eq=False, repr=False)
class Attribute(Expression):
    """``base.name``, read."""

    base: Expression
    name: str

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.base,)


@dataclass(slots=True, eq=False, repr=False)
class Constant(Expression):
    """A number, a string, bytes, None, True, False or Ellipsis."""

    value: object


@dataclass(slots=True, eq=False, repr=False)
class FormattedText(Expression):
    """An f-string: its literal pieces (str) and its expressions, in order."""

    pieces: tuple[str | Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Expression))


@dataclass(slots=True, eq=False, repr=False)
class Argument:
    """One argument of a call; ``star`` is "", "*" or "**"."""

    node: cst.Arg
    value: Expression
    keyword: str | None
    star: str


@dataclass(slots=True, eq=False, repr=False)
class Call(Expression):
    """A call; decorators without parentheses are not calls."""

    callee: Expression
    arguments: tuple[Argument, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.callee, *(argument.value for argument in self.arguments))


@dataclass(slots=True, eq=False, repr=False)
class Sequence(Expression):
    """A tuple, list or set display: ``kind`` is "tuple", "list" or "set"."""

    kind: str
    items: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.items


@dataclass(slots=True, eq=False, repr=False)
class Mapping(Expression):
    """A dict display: pairs of key and value; the key is None where another mapping is unpacked."""

    items: tuple[tuple[Expression | None, Expression], ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(part for item in self.items for part in item if part is not None)


@dataclass(slots=True, eq=False, repr=False)
class Subscript(Expression):
    """``base[index]``, read; several indices are a tuple."""

    base: Expression
    index: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.base, self.index)


@dataclass(slots=True, eq=False, repr=False)
class Comparison(Expression):
    """``left == right``, also chained; operators as written ("==", "not in", "is" ...)."""

    left: Expression
    comparisons: tuple[tuple[str, Expression], ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.left, *(right for _, right in self.comparisons))


@dataclass(slots=True, eq=False, repr=False)
class Logic(Expression):
    """``a and b and c`` or ``a or b``: ``operator`` is "and" or "or"."""

    operator: str
    operands: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.operands


@dataclass(slots=True, eq=False, repr=False)
class Not(Expression):
    """``not operand``."""

    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)


@dataclass(slots=True, eq=False, repr=False)
class Operation(Expression):
    """Arithmetic: the operator as written and one or two operands."""

    operator: str
    operands: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.operands


@dataclass(slots=True, eq=False, repr=False)
class Conditional(Expression):
    """``then if test else otherwise``."""

    test: Expression
    then: Expression
    otherwise: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.test, self.then, self.otherwise)


@dataclass(slots=True, eq=False, repr=False)
class Assigned(Expression):
    """``(name := value)``."""

    name: str
    value: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.value,)


@dataclass(slots=True, eq=False, repr=False)
class Lambda(Expression):
    """A lambda; its body belongs to its function."""

    function: Function


@dataclass(slots=True, eq=False, repr=False)
class Comprehension(Expression):
    """A comprehension or generator expression: ``kind`` is "list", "set", "dict" or "generator"."""

    kind: str
    iterables: tuple[Expression, ...]
    tests: tuple[Expression, ...]
    elements: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return (*self.iterables, *self.tests, *self.elements)


@dataclass(slots=True, eq=False, repr=False)
class Passed(Expression):
    """An expression that hands its operand on: ``await x``, ``*x``, ``yield x``; ``kind`` is the keyword."""

    kind: str
    value: Expression | None

    @property
    def children(self) -> tuple[Expression, ...]:
        return () if self.value is None else (self.value,)


@dataclass(slots=True, eq=False, repr=False)
class Slice(Expression):
    """``lower:upper:step`` inside a subscript; a missing part is None."""

    lower: Expression | None
    upper: Expression | None
    step: Expression | None

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(part for part in (self.lower, self.upper, self.step) if part is not None)


@dataclass(slots=True, eq=False, repr=False)
class Opaque(Expression):
    """An expression of a kind that no question asks about."""


def last_name(expression: Expression) -> str:
    """Return the last name of a dotted chain, of a call that of what it calls, and nothing for the rest."""
    if isinstance(expression, Call):
        return last_name(expression.callee)
    if isinstance(expression, Name):
        return expression.id
    return expression.name if isinstance(expression, Attribute) else ""
