"""The one walk over a syntax tree: statements made into scopes, regions, bindings, loops and exits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from ddplint.semantics.build_expressions import ExpressionBuilder
from ddplint.semantics.expressions import Attribute, Call, Expression, Name, Operation
from ddplint.semantics.structure import (
    BindingKind,
    Class,
    Exit,
    ExitKind,
    Fork,
    Loop,
    LoopKind,
    Region,
    RegionKind,
    Scope,
    ScopeKind,
    Statement,
)

_PROCESS_EXITS = {"exit", "quit", "sys.exit", "os._exit", "os.abort"}


class StatementBuilder(ExpressionBuilder):
    """Reads statements in order.

    Each reader returns None when control goes on after its statement, or the region in which the rest of the block
    runs: the same block under a condition more (after ``if test: return``), or a region that ``leaves``.
    """

    def module(self, node: cst.Module) -> None:
        """Read a whole file."""
        self.block(node.body)

    def block(self, statements: Sequence[cst.CSTNode]) -> bool:
        """Read statements one after the other; return whether control never reaches the end."""
        outer = self.region
        leaves = False
        for node in statements:
            small = node.body if isinstance(node, cst.SimpleStatementLine) else (node,)
            for part in small:
                self.statement = Statement(node if len(small) == 1 else part, self.region)
                rest = _READERS[type(part)](self, part) if type(part) in _READERS else None
                if rest is not None:
                    leaves |= rest.leaves
                    self.region = rest if not rest.leaves else self.region
        self.region = outer
        return leaves

    def suite(self, node: cst.BaseSuite, region: Region) -> Region:
        """Read the body of a compound statement in a region of its own; return that region."""
        outer = self.enter(region.scope, region)
        statement = self.statement
        region.leaves = self.block(node.body)
        self.leave(outer)
        self.statement = statement
        return region

    def inner(self, kind: RegionKind, node: cst.CSTNode, **more: Any) -> Region:
        return Region(kind, node, self.region, self.region.scope, **more)

    def leaving(self, node: cst.CSTNode) -> Region:
        return self.inner(RegionKind.BRANCH, node, leaves=True)

    # Simple statements.

    def expression_statement(self, node: cst.Expr) -> Region | None:
        value = self.expression(node.value)
        if isinstance(value, Call) and _dotted(value.callee) in _PROCESS_EXITS:
            return self.leaving(node)
        return None

    def assign(self, node: cst.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.target(target.target, BindingKind.ASSIGNMENT, value)

    def annotated(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self.target(node.target, BindingKind.ASSIGNMENT, self.expression(node.value))

    def augmented(self, node: cst.AugAssign) -> None:
        old = self.expression(node.target)
        operand = self.expression(node.value)
        operator = _AUGMENTED.get(type(node.operator), "")
        value = Operation(node, self.statement, self.region, self.next(), operator, (old, operand))
        self.script.operations.append(value)
        if isinstance(node.target, cst.Name):
            self.bind(node.target.value, BindingKind.AUGMENTED, node.target, value)
        elif isinstance(old, Attribute):
            self.store(old.base, old.name, None, value, (), node.target, augmented=True)
        elif isinstance(node.target, cst.Subscript):
            base, index, *_ = old.children
            self.store(base, None, index, value, (), node.target, augmented=True)

    def delete(self, node: cst.Del) -> None:
        targets = node.target.elements if isinstance(node.target, (cst.Tuple, cst.List)) else (node.target,)
        for target in targets:
            value = target.value if isinstance(target, cst.BaseElement) else target
            if isinstance(value, cst.Name):
                self.bind(value.value, BindingKind.DELETE, value)

    def imports(self, node: cst.Import) -> None:
        for alias in node.names:
            full = _dotted_name(alias.name)
            name = full.partition(".")[0]
            target = full if alias.asname is not None else name
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                name = alias.asname.name.value
            self.bind(name, BindingKind.IMPORT, alias).imported = target
            self.script.imports.append((full, self.statement, self.region))

    def imports_from(self, node: cst.ImportFrom) -> None:
        source = "." * len(node.relative) + (_dotted_name(node.module) if node.module is not None else "")
        prefix = source if source.endswith(".") else f"{source}."
        self.script.imports.append((source, self.statement, self.region))
        if isinstance(node.names, cst.ImportStar):
            self.scope.stars.append(source)
            return
        for alias in node.names:
            name = _dotted_name(alias.name)
            self.script.imports.append((prefix + name, self.statement, self.region))
            bound = name
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                bound = alias.asname.name.value
            self.bind(bound, BindingKind.IMPORT, alias).imported = prefix + name

    def outer(self, node: cst.Global | cst.Nonlocal) -> None:
        for item in node.names:
            name = item.name.value
            scope: Scope | None = self.scope.parent
            while scope is not None and scope.parent is not None:
                if isinstance(node, cst.Nonlocal) and name in scope.bindings:
                    break
                scope = scope.parent
            if scope is not None:
                self.scope.outer_names[name] = scope

    def returns(self, node: cst.Return) -> Region:
        value = None if node.value is None else self.expression(node.value)
        function = self.scope.function
        if function is not None and value is not None:
            function.returns.append(value)
        return self.exit(ExitKind.RETURN, node, value)

    def raises(self, node: cst.Raise) -> Region:
        return self.exit(ExitKind.RAISE, node, None if node.exc is None else self.expression(node.exc))

    def breaks(self, node: cst.Break) -> Region:
        return self.exit(ExitKind.BREAK, node, None)

    def continues(self, node: cst.Continue) -> Region:
        return self.exit(ExitKind.CONTINUE, node, None)

    def exit(self, kind: ExitKind, node: cst.CSTNode, value: Expression | None) -> Region:
        self.script.exits.append(Exit(kind, self.statement, self.region, self.next(), value))
        return self.leaving(node)

    def asserts(self, node: cst.Assert) -> None:
        test = self.expression(node.test)
        self.script.asserted.append(test)
        if node.msg is not None:
            self.arm(node, test, False, node.msg)

    # Compound statements.

    def branch(self, node: cst.If) -> Region | None:
        test = self.expression(node.test)
        fork = Fork(node, exhaustive=True)
        then = self.suite(node.body, self._arm(node, test, True, fork))
        otherwise = self._arm(node, test, False, fork)
        if isinstance(node.orelse, cst.If):
            outer = self.enter(self.scope, otherwise)
            otherwise.leaves = self.block([node.orelse])
            self.leave(outer)
        elif node.orelse is not None:
            self.suite(node.orelse.body, otherwise)
        if then.leaves and otherwise.leaves:
            return self.leaving(node)
        if then.leaves or otherwise.leaves:
            return self._arm(node, test, not then.leaves, fork, implied=True)
        return None

    def _arm(self, node: cst.If, test: Expression, holds: bool, fork: Fork, implied: bool = False) -> Region:
        region = self.inner(
            RegionKind.BRANCH, node, test=test, holds=holds, fork=fork, arm=0 if holds else 1, implied=implied
        )
        fork.arms.append(region)
        return region

    def for_loop(self, node: cst.For) -> None:
        iterable = self.expression(node.iter)
        loop = Loop(LoopKind.FOR, node, self.statement, self.next(), iterable)
        self.script.loops.append(loop)
        region = self.inner(RegionKind.LOOP, node, loop=loop)
        outer = self.enter(self.scope, region)
        self.target(node.target, BindingKind.LOOP, iterable)
        self.leave(outer)
        self.suite(node.body, region)
        self._loop_else(node)

    def while_loop(self, node: cst.While) -> None:
        loop = Loop(LoopKind.WHILE, node, self.statement, self.next())
        self.script.loops.append(loop)
        region = self.inner(RegionKind.LOOP, node, loop=loop)
        outer = self.enter(self.scope, region)
        loop.test = self.expression(node.test)
        self.leave(outer)
        self.suite(node.body, region)
        self._loop_else(node)

    def _loop_else(self, node: cst.For | cst.While) -> None:
        if node.orelse is not None:
            self.suite(node.orelse.body, self.inner(RegionKind.BRANCH, node))

    def attempt(self, node: cst.Try | cst.TryStar) -> Region | None:
        body = self.suite(node.body, self.inner(RegionKind.TRY, node))
        handlers = [self._handler(handler) for handler in node.handlers]
        leaves = body.leaves
        if node.orelse is not None:
            leaves |= self.suite(node.orelse.body, self.inner(RegionKind.TRY, node)).leaves
        leaves &= all(handler.leaves for handler in handlers)
        if node.finalbody is not None:
            leaves |= self.suite(node.finalbody.body, self.inner(RegionKind.FINALLY, node)).leaves
        return self.leaving(node) if leaves else None

    def _handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> Region:
        caught = None if node.type is None else self.expression(node.type)
        region = self.inner(RegionKind.HANDLER, node, caught=caught)
        self.script.handlers.append(region)
        if node.name is not None:
            outer = self.enter(self.scope, region)
            self.target(node.name.name, BindingKind.EXCEPT, None)
            self.leave(outer)
        return self.suite(node.body, region)

    def with_block(self, node: cst.With) -> Region | None:
        region = self.inner(RegionKind.WITH, node)
        outer = self.enter(self.scope, region)
        contexts = []
        for item in node.items:
            context = self.expression(item.item)
            contexts.append(context)
            if item.asname is not None:
                self.target(item.asname.name, BindingKind.WITH, context)
        region.contexts = tuple(contexts)
        self.leave(outer)
        self.suite(node.body, region)
        return self.leaving(node) if region.leaves else None

    def match(self, node: cst.Match) -> None:
        subject = self.expression(node.subject)
        fork = Fork(node, exhaustive=False)
        for number, case in enumerate(node.cases):
            region = self.inner(RegionKind.BRANCH, case, fork=fork, arm=number)
            fork.arms.append(region)
            outer = self.enter(self.scope, region)
            self._pattern(case.pattern, subject)
            if case.guard is not None:
                region.test = self.expression(case.guard)
            self.leave(outer)
            self.suite(case.body, region)

    def _pattern(self, pattern: cst.CSTNode, subject: Expression) -> None:
        for child in pattern.children:
            self._pattern(child, subject)
        name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
        if isinstance(name, cst.Name) and not isinstance(pattern, cst.MatchKeywordElement):
            self.bind(name.value, BindingKind.PATTERN, name, subject)

    def define(self, node: cst.FunctionDef) -> None:
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        function = self.function(node.name.value, node, node.params, decorators)
        self.bind(function.name, BindingKind.FUNCTION, node.name).function = function
        if function.cls is not None:
            function.cls.methods.setdefault(function.name, function)
        outer = self.enter(function.scope, function.region)
        self.suite(node.body, function.region)
        self.leave(outer)

    def define_class(self, node: cst.ClassDef) -> None:
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        bases = tuple(self.expression(argument.value) for argument in node.bases)
        for keyword in node.keywords:
            self.expression(keyword.value)
        scope = Scope(ScopeKind.CLASS, self.script, self.scope, self.scope.function)
        cls = Class(node.name.value, node, scope, bases, decorators)
        scope.cls = cls
        self.script.classes.append(cls)
        self.bind(cls.name, BindingKind.CLASS, node.name).cls = cls
        region = Region(RegionKind.CLASS, node, self.region, scope)
        outer = self.enter(scope, region)
        self.suite(node.body, region)
        self.leave(outer)


def _dotted(expression: Expression) -> str:
    """Return ``a.b.c`` for a chain of plain names, else an empty string."""
    if isinstance(expression, Name):
        return expression.id
    if isinstance(expression, Attribute):
        base = _dotted(expression.base)
        return f"{base}.{expression.name}" if base else ""
    return ""


def _dotted_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted_name(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


_AUGMENTED = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
}

_READERS: dict[type[cst.CSTNode], Callable[[StatementBuilder, Any], Region | None]] = {
    cst.Expr: StatementBuilder.expression_statement,
    cst.Assign: StatementBuilder.assign,
    cst.AnnAssign: StatementBuilder.annotated,
    cst.AugAssign: StatementBuilder.augmented,
    cst.Del: StatementBuilder.delete,
    cst.Import: StatementBuilder.imports,
    cst.ImportFrom: StatementBuilder.imports_from,
    cst.Global: StatementBuilder.outer,
    cst.Nonlocal: StatementBuilder.outer,
    cst.Return: StatementBuilder.returns,
    cst.Raise: StatementBuilder.raises,
    cst.Break: StatementBuilder.breaks,
    cst.Continue: StatementBuilder.continues,
    cst.Assert: StatementBuilder.asserts,
    cst.If: StatementBuilder.branch,
    cst.For: StatementBuilder.for_loop,
    cst.While: StatementBuilder.while_loop,
    cst.Try: StatementBuilder.attempt,
    cst.TryStar: StatementBuilder.attempt,
    cst.With: StatementBuilder.with_block,
    cst.Match: StatementBuilder.match,
    cst.FunctionDef: StatementBuilder.define,
    cst.ClassDef: StatementBuilder.define_class,
}
for _name, _reader in (("LazyImport", StatementBuilder.imports), ("LazyImportFrom", StatementBuilder.imports_from)):
    if hasattr(cst, _name):  # newer LibCST reads `lazy import`
        _READERS[getattr(cst, _name)] = _reader
