"""How a file is built: scopes with their bindings, regions of control flow, functions, classes, loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from ddplint.semantics.expressions import Expression
    from ddplint.semantics.script import Script


class RegionKind(Enum):
    """Why a stretch of code runs as it does."""

    MODULE = "module"
    FUNCTION = "function"
    CLASS = "class"
    BRANCH = "branch"
    LOOP = "loop"
    TRY = "try"
    HANDLER = "handler"
    FINALLY = "finally"
    WITH = "with"


@dataclass(slots=True, eq=False, repr=False)
class Fork:
    """A place where the flow parts: its arms exclude each other. ``exhaustive``: one of the arms is always taken."""

    node: cst.CSTNode
    exhaustive: bool
    arms: list[Region] = field(default_factory=list)


@dataclass(slots=True, eq=False, repr=False)
class Region:
    """A stretch of code that runs under one condition more than the region around it.

    A BRANCH runs when ``test`` is true (``holds``) or false; the rest of a block after ``if test: return`` is such
    a branch too (``implied``). ``arm`` numbers the arms of a fork. A LOOP knows its loop. A WITH knows its context
    expressions. A HANDLER knows which exceptions it catches (None: all). ``leaves``: control never reaches the end of
    this region.
    """

    kind: RegionKind
    node: cst.CSTNode
    parent: Region | None
    scope: Scope
    test: Expression | None = None
    holds: bool = True
    fork: Fork | None = None
    arm: int = 0
    implied: bool = False
    loop: Loop | None = None
    contexts: tuple[Expression, ...] = ()
    caught: Expression | None = None
    leaves: bool = False
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1

    def chain(self) -> Iterator[Region]:
        """Yield this region and those around it, inside the same function, from the inside out.

        A comprehension runs where it is written: the regions around it belong to it.
        """
        region: Region | None = self
        scope = self.scope
        while region is not None:
            if region.scope is not scope:
                if scope.kind is not ScopeKind.COMPREHENSION:
                    return
                scope = region.scope
            yield region
            region = region.parent

    def around(self) -> Iterator[Region]:
        """Yield this region and all around it up to the module, across the borders of functions."""
        region: Region | None = self
        while region is not None:
            yield region
            region = region.parent

    def within(self, other: Region) -> bool:
        """Whether this region is the other one or lies inside it."""
        region = self
        while region.depth > other.depth:
            assert region.parent is not None
            region = region.parent
        return region is other

    def excludes(self, other: Region) -> bool:
        """Whether a single pass can't go through both regions."""
        arms = {id(region.fork): region for region in self.around() if region.fork is not None}
        return any(
            region.fork is not None and id(region.fork) in arms and arms[id(region.fork)].arm != region.arm
            for region in other.around()
        )

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around this region inside its function, the innermost first."""
        return tuple(region.loop for region in self.chain() if region.loop is not None)


@dataclass(slots=True, eq=False, repr=False)
class Statement:
    """A statement: its node and the region that it stands in."""

    node: cst.CSTNode
    region: Region


class BindingKind(Enum):
    """What gives a name its value."""

    ASSIGNMENT = "assignment"
    AUGMENTED = "augmented assignment"
    IMPORT = "import"
    PARAMETER = "parameter"
    LOOP = "loop target"
    WITH = "with target"
    EXCEPT = "except target"
    FUNCTION = "function"
    CLASS = "class"
    PATTERN = "match pattern"
    DELETE = "deletion"


@dataclass(slots=True, eq=False, repr=False)
class Binding:
    """One place that gives a name a value.

    ``value`` is the expression assigned, iterated over or entered; ``path`` says which part of it when it is
    unpacked: ``a, (b, c) = value`` binds c with the path (1, 1), and ``*rest`` ends its path with None.
    """

    name: str
    kind: BindingKind
    statement: Statement
    region: Region
    order: int
    node: cst.CSTNode
    value: Expression | None = None
    path: tuple[int | None, ...] = ()
    imported: str = ""
    function: Function | None = None
    cls: Class | None = None
    parameter: Parameter | None = None


class ScopeKind(Enum):
    """The scopes of Python."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """Where names live. ``stars`` are the modules whose names are all imported here.

    ``reached`` keeps the answers of ``reaching``, by the expression that reads and the name.
    """

    kind: ScopeKind
    script: Script
    parent: Scope | None
    function: Function | None = None
    cls: Class | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer_names: dict[str, Scope] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    reached: dict[tuple[int, str], list[Binding] | None] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Parameter:
    """A parameter: ``kind`` is "positional", "keyword", "*" or "**"; ``index`` counts positional ones from 0."""

    name: str
    kind: str
    index: int
    default: Expression | None
    annotation: Expression | None
    function: Function


@dataclass(slots=True, eq=False, repr=False)
class Function:
    """A function, method or lambda. ``cls`` is the class whose body holds it."""

    name: str
    node: cst.CSTNode
    scope: Scope
    region: Region
    cls: Class | None
    parameters: list[Parameter] = field(default_factory=list)
    decorators: tuple[Expression, ...] = ()
    returns: list[Expression] = field(default_factory=list)
    yields: list[Expression] = field(default_factory=list)

    @property
    def script(self) -> Script:
        return self.scope.script

    @property
    def is_lambda(self) -> bool:
        return self.name == "<lambda>"

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def outermost(self) -> Function:
        """The function or method at module or class level that this one is written in."""
        parent = self.scope.parent
        while parent is not None and parent.kind is ScopeKind.COMPREHENSION:
            parent = parent.parent
        return self if parent is None or parent.function is None or self.cls is not None else parent.function.outermost


@dataclass(slots=True, eq=False, repr=False)
class Class:
    """A class with its bases, the methods of its body and its scope."""

    name: str
    node: cst.CSTNode
    scope: Scope
    bases: tuple[Expression, ...]
    decorators: tuple[Expression, ...] = ()
    methods: dict[str, Function] = field(default_factory=dict)


class LoopKind(Enum):
    FOR = "for"
    WHILE = "while"
    COMPREHENSION = "comprehension"


@dataclass(slots=True, eq=False, repr=False)
class Loop:
    """A loop: what it runs over (for) or until what (while), and the names it sets."""

    kind: LoopKind
    node: cst.CSTNode
    statement: Statement
    order: int
    iterable: Expression | None = None
    test: Expression | None = None


@dataclass(slots=True, eq=False, repr=False)
class Store:
    """A value put elsewhere than in a name: ``base.name = value`` or ``base[index] = value``."""

    base: Expression
    name: str | None
    index: Expression | None
    value: Expression | None
    path: tuple[int | None, ...]
    augmented: bool
    statement: Statement
    region: Region
    order: int
    node: cst.CSTNode


class ExitKind(Enum):
    RETURN = "return"
    RAISE = "raise"
    BREAK = "break"
    CONTINUE = "continue"


@dataclass(slots=True, eq=False, repr=False)
class Exit:
    """A statement that leaves its block early."""

    kind: ExitKind
    statement: Statement
    region: Region
    order: int
    value: Expression | None = None

    @property
    def node(self) -> cst.CSTNode:
        return self.statement.node
