"""Expression nodes of the syntax tree made into expressions, by a table of node types."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

from ddplint.semantics.expressions import (
    Argument,
    Assigned,
    Attribute,
    Call,
    Comparison,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    FormattedText,
    Lambda,
    Logic,
    Mapping,
    Name,
    Not,
    Opaque,
    Operation,
    Passed,
    Sequence,
    Slice,
    Subscript,
)
from ddplint.semantics.script import Script
from ddplint.semantics.structure import (
    Binding,
    BindingKind,
    Fork,
    Function,
    Loop,
    LoopKind,
    Parameter,
    Region,
    RegionKind,
    Scope,
    ScopeKind,
    Statement,
    Store,
)

_CONSTANT_NAMES = {"None": None, "True": True, "False": False}


class ExpressionBuilder:
    """Turns expression nodes into expressions and notes the names and calls that they hold."""

    def __init__(self, script: Script, module: cst.Module) -> None:
        self.script = script
        self.scope = Scope(ScopeKind.MODULE, script, None)
        self.region = Region(RegionKind.MODULE, module, None, self.scope)
        self.statement = Statement(module, self.region)
        self.order = 0

    def expression(self, node: cst.BaseExpression) -> Expression:
        """Return the expression of a node; parts are made, and numbered, before the whole."""
        return _MAKERS.get(type(node), ExpressionBuilder.opaque)(self, node)

    def next(self) -> int:
        self.order += 1
        return self.order

    def name(self, node: cst.Name) -> Expression:
        text = node.value
        if text in _CONSTANT_NAMES:
            return Constant(node, self.statement, self.region, self.next(), _CONSTANT_NAMES[text])
        name = Name(node, self.statement, self.region, self.next(), text)
        self.script.names.append(name)
        return name

    def attribute(self, node: cst.Attribute) -> Expression:
        base = self.expression(node.value)
        attribute = Attribute(node, self.statement, self.region, self.next(), base, node.attr.value)
        self.script.attributes.append(attribute)
        return attribute

    def call(self, node: cst.Call) -> Expression:
        callee = self.expression(node.func)
        arguments = tuple(
            Argument(
                argument,
                self.expression(argument.value),
                None if argument.keyword is None else self.script.original(argument.keyword.value),
                argument.star,
            )
            for argument in node.args
        )
        call = Call(node, self.statement, self.region, self.next(), callee, arguments)
        self.script.calls.append(call)
        return call

    def literal(self, node: Any) -> Expression:
        try:
            value = ast.literal_eval(node.value)
        except (ValueError, SyntaxError):
            return self.opaque(node)
        return Constant(node, self.statement, self.region, self.next(), value)

    def joined_literal(self, node: cst.ConcatenatedString) -> Expression:
        parts = [self.expression(node.left), self.expression(node.right)]
        if all(isinstance(part, Constant) for part in parts):
            left, right = (part.value for part in parts if isinstance(part, Constant))
            if isinstance(left, str) and isinstance(right, str):
                return Constant(node, self.statement, self.region, self.next(), left + right)
        pieces: list[str | Expression] = []
        for part in parts:
            if isinstance(part, FormattedText):
                pieces.extend(part.pieces)
            elif isinstance(part, Constant) and isinstance(part.value, str):
                pieces.append(part.value)
            else:
                pieces.append(part)
        return FormattedText(node, self.statement, self.region, self.next(), tuple(pieces))

    def formatted(self, node: cst.FormattedString) -> Expression:
        pieces: list[str | Expression] = []
        self._pieces(node.parts, pieces)
        return FormattedText(node, self.statement, self.region, self.next(), tuple(pieces))

    def _pieces(self, parts: Any, pieces: list[str | Expression]) -> None:
        for part in parts:
            value = getattr(part, "expression", None)
            if value is None:
                pieces.append(getattr(part, "value", ""))
                continue
            pieces.append(self.expression(value))
            if part.format_spec:
                self._pieces(part.format_spec, [])  # how a piece is written is no piece

    def display(self, node: cst.Tuple | cst.List | cst.Set) -> Expression:
        items = tuple(self._element(element) for element in node.elements)
        kind = type(node).__name__.lower()
        return Sequence(node, self.statement, self.region, self.next(), kind, items)

    def _element(self, element: cst.BaseElement) -> Expression:
        return self.starred(element) if isinstance(element, cst.StarredElement) else self.expression(element.value)

    def dictionary(self, node: cst.Dict) -> Expression:
        items = tuple(
            (
                self.expression(element.key) if isinstance(element, cst.DictElement) else None,
                self.expression(element.value),
            )
            for element in node.elements
        )
        return Mapping(node, self.statement, self.region, self.next(), items)

    def subscript(self, node: cst.Subscript) -> Expression:
        base = self.expression(node.value)
        parts = tuple(self._index(element.slice) for element in node.slice)
        index = parts[0]
        if len(parts) > 1:
            index = Sequence(node, self.statement, self.region, self.next(), "tuple", parts)
        subscript = Subscript(node, self.statement, self.region, self.next(), base, index)
        self.script.subscripts.append(subscript)
        if isinstance(index, Slice):
            self.script.sliced.append(subscript)
        return subscript

    def _index(self, node: cst.BaseSlice) -> Expression:
        if isinstance(node, cst.Index):
            return self.expression(node.value)
        assert isinstance(node, cst.Slice)
        lower, upper, step = (
            None if part is None else self.expression(part) for part in (node.lower, node.upper, node.step)
        )
        return Slice(node, self.statement, self.region, self.next(), lower, upper, step)

    def comparison(self, node: cst.Comparison) -> Expression:
        left = self.expression(node.left)
        comparisons = tuple(
            (_COMPARISONS[type(part.operator)], self.expression(part.comparator)) for part in node.comparisons
        )
        return Comparison(node, self.statement, self.region, self.next(), left, comparisons)

    def logic(self, node: cst.BooleanOperation) -> Expression:
        operator = "and" if isinstance(node.operator, cst.And) else "or"
        left = self.expression(node.left)
        right = self.arm(node, left, operator == "and", node.right)
        operands: tuple[Expression, ...] = (left, right)
        if isinstance(left, Logic) and left.operator == operator:
            operands = (*left.operands, right)
        return Logic(node, self.statement, self.region, self.next(), operator, operands)

    def unary(self, node: cst.UnaryOperation) -> Expression:
        operand = self.expression(node.expression)
        if isinstance(node.operator, cst.Not):
            return Not(node, self.statement, self.region, self.next(), operand)
        operator = _UNARY[type(node.operator)]
        if operator == "-" and isinstance(operand, Constant) and type(operand.value) in (int, float):
            value: Any = operand.value
            return Constant(node, self.statement, self.region, self.next(), -value)
        return Operation(node, self.statement, self.region, self.next(), operator, (operand,))

    def binary(self, node: cst.BinaryOperation) -> Expression:
        operands = (self.expression(node.left), self.expression(node.right))
        operation = Operation(node, self.statement, self.region, self.next(), _BINARY[type(node.operator)], operands)
        self.script.operations.append(operation)
        return operation

    def conditional(self, node: cst.IfExp) -> Expression:
        test = self.expression(node.test)
        fork = Fork(node, exhaustive=True)
        then = self.arm(node, test, True, node.body, fork)
        otherwise = self.arm(node, test, False, node.orelse, fork)
        return Conditional(node, self.statement, self.region, self.next(), test, then, otherwise)

    def arm(
        self, node: cst.CSTNode, test: Expression, holds: bool, part: cst.BaseExpression, fork: Fork | None = None
    ) -> Expression:
        """Return the expression of a part that is evaluated only when the test came out as ``holds``."""
        outer = self.region
        self.region = Region(RegionKind.BRANCH, node, outer, outer.scope, test, holds, fork, 0 if holds else 1)
        if fork is not None:
            fork.arms.append(self.region)
        try:
            return self.expression(part)
        finally:
            self.region = outer

    def assigned(self, node: cst.NamedExpr) -> Expression:
        value = self.expression(node.value)
        target = node.target
        assert isinstance(target, cst.Name)
        self.bind(target.value, BindingKind.ASSIGNMENT, target, value)
        return Assigned(node, self.statement, self.region, self.next(), target.value, value)

    def lambda_(self, node: cst.Lambda) -> Expression:
        function = self.function("<lambda>", node, node.params, ())
        outer = self.enter(function.scope, function.region)
        function.returns.append(self.expression(node.body))
        self.leave(outer)
        return Lambda(node, self.statement, self.region, self.next(), function)

    def comprehension(self, node: Any) -> Expression:
        scope = Scope(ScopeKind.COMPREHENSION, self.script, self.scope, self.scope.function, self.scope.cls)
        iterables: list[Expression] = []
        tests: list[Expression] = []
        outer = (self.scope, self.region)
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            iterable = self.expression(clause.iter)
            iterables.append(iterable)
            loop = Loop(LoopKind.COMPREHENSION, node, self.statement, self.next(), iterable)
            self.scope = scope
            self.region = Region(RegionKind.LOOP, node, self.region, scope, loop=loop)
            self.target(clause.target, BindingKind.LOOP, iterable)
            self.script.loops.append(loop)
            tests += [self.expression(condition.test) for condition in clause.ifs]
            clause = clause.inner_for_in
        parts = (node.key, node.value) if isinstance(node, cst.DictComp) else (node.elt,)
        elements = tuple(self.expression(part) for part in parts)
        self.scope, self.region = outer
        kind = _COMPREHENSIONS[type(node)]
        return Comprehension(
            node, self.statement, self.region, self.next(), kind, tuple(iterables), tuple(tests), elements
        )

    def passed(self, node: cst.Await) -> Expression:
        value = self.expression(node.expression)
        return Passed(node, self.statement, self.region, self.next(), "await", value)

    def yielded(self, node: cst.Yield) -> Expression:
        operand = node.value
        kind = "yield"
        if isinstance(operand, cst.From):
            kind, operand = "yield from", operand.item
        value = None if operand is None else self.expression(operand)
        result = Passed(node, self.statement, self.region, self.next(), kind, value)
        if self.scope.function is not None:
            self.scope.function.yields.append(result)
        return result

    def starred(self, node: cst.StarredElement) -> Expression:
        value = self.expression(node.value)
        return Passed(node, self.statement, self.region, self.next(), "*", value)

    def opaque(self, node: cst.CSTNode) -> Expression:
        return Opaque(node, self.statement, self.region, self.next())

    # What expressions and statements share: names, targets, functions.

    def bind(
        self,
        name: str,
        kind: BindingKind,
        node: cst.CSTNode,
        value: Expression | None = None,
        path: tuple[int | None, ...] = (),
    ) -> Binding:
        """Note that a name gets a value here, in the scope in which Python puts it."""
        scope = self.scope
        while scope.kind is ScopeKind.COMPREHENSION and kind is BindingKind.ASSIGNMENT and scope.parent is not None:
            scope = scope.parent
        scope = scope.outer_names.get(name, scope)
        binding = Binding(name, kind, self.statement, self.region, self.next(), node, value, path)
        scope.bindings.setdefault(name, []).append(binding)
        return binding

    def target(
        self, node: cst.CSTNode, kind: BindingKind, value: Expression | None, path: tuple[int | None, ...] = ()
    ) -> None:
        """Note what an assignment target, a loop target or a with target gives a value to."""
        if isinstance(node, cst.Name):
            self.bind(node.value, kind, node, value, path)
        elif isinstance(node, (cst.Tuple, cst.List)):
            starred = False
            for index, element in enumerate(node.elements):
                starred |= isinstance(element, cst.StarredElement)
                part = None if isinstance(element, cst.StarredElement) else index - starred * len(node.elements)
                self.target(element.value, kind, value, (*path, part))
        elif isinstance(node, cst.Attribute):
            self.store(self.expression(node.value), node.attr.value, None, value, path, node)
        elif isinstance(node, cst.Subscript):
            base = self.expression(node.value)
            parts = [self._index(element.slice) for element in node.slice]
            self.store(base, None, parts[0], value, path, node)

    def store(
        self,
        base: Expression,
        name: str | None,
        index: Expression | None,
        value: Expression | None,
        path: tuple[int | None, ...],
        node: cst.CSTNode,
        augmented: bool = False,
    ) -> None:
        """Note a value that is put into an attribute or an item."""
        self.script.stores.append(
            Store(base, name, index, value, path, augmented, self.statement, self.region, self.next(), node)
        )

    def function(
        self, name: str, node: cst.CSTNode, parameters: cst.Parameters, decorators: tuple[Expression, ...]
    ) -> Function:
        """Make a function with its parameters; its body is still to be read."""
        cls = self.scope.cls if self.scope.kind is ScopeKind.CLASS else None
        scope = Scope(ScopeKind.FUNCTION, self.script, self.scope, cls=cls)
        region = Region(RegionKind.FUNCTION, node, self.region, scope)
        function = Function(name, node, scope, region, cls, decorators=decorators)
        scope.function = function
        self.script.functions.append(function)
        listed = [(parameter, "positional") for parameter in (*parameters.posonly_params, *parameters.params)]
        if isinstance(parameters.star_arg, cst.Param):
            listed.append((parameters.star_arg, "*"))
        listed += [(parameter, "keyword") for parameter in parameters.kwonly_params]
        if parameters.star_kwarg is not None:
            listed.append((parameters.star_kwarg, "**"))
        for index, (parameter, kind) in enumerate(listed):
            self._parameter(function, parameter, kind, index)
        return function

    def _parameter(self, function: Function, node: cst.Param, kind: str, index: int) -> None:
        default = None if node.default is None else self.expression(node.default)
        annotation = None if node.annotation is None else self.expression(node.annotation.annotation)
        parameter = Parameter(node.name.value, kind, index, default, annotation, function)
        function.parameters.append(parameter)
        outer = self.enter(function.scope, function.region)
        self.bind(parameter.name, BindingKind.PARAMETER, node).parameter = parameter
        self.leave(outer)

    def enter(self, scope: Scope, region: Region) -> tuple[Scope, Region]:
        """Go into a scope; what comes back is handed to ``leave``."""
        outer = (self.scope, self.region)
        self.scope, self.region = scope, region
        return outer

    def leave(self, outer: tuple[Scope, Region]) -> None:
        self.scope, self.region = outer


_COMPARISONS: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}
_UNARY: dict[type[cst.CSTNode], str] = {cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~"}
_BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
}
_COMPREHENSIONS: dict[type[cst.CSTNode], str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}

_MAKERS: dict[type[cst.CSTNode], Callable[[ExpressionBuilder, Any], Expression]] = {
    cst.Name: ExpressionBuilder.name,
    cst.Attribute: ExpressionBuilder.attribute,
    cst.Call: ExpressionBuilder.call,
    cst.Integer: ExpressionBuilder.literal,
    cst.Float: ExpressionBuilder.literal,
    cst.Imaginary: ExpressionBuilder.literal,
    cst.SimpleString: ExpressionBuilder.literal,
    cst.ConcatenatedString: ExpressionBuilder.joined_literal,
    cst.FormattedString: ExpressionBuilder.formatted,
    cst.Tuple: ExpressionBuilder.display,
    cst.List: ExpressionBuilder.display,
    cst.Set: ExpressionBuilder.display,
    cst.Dict: ExpressionBuilder.dictionary,
    cst.Subscript: ExpressionBuilder.subscript,
    cst.Comparison: ExpressionBuilder.comparison,
    cst.BooleanOperation: ExpressionBuilder.logic,
    cst.UnaryOperation: ExpressionBuilder.unary,
    cst.BinaryOperation: ExpressionBuilder.binary,
    cst.IfExp: ExpressionBuilder.conditional,
    cst.NamedExpr: ExpressionBuilder.assigned,
    cst.Lambda: ExpressionBuilder.lambda_,
    cst.ListComp: ExpressionBuilder.comprehension,
    cst.SetComp: ExpressionBuilder.comprehension,
    cst.DictComp: ExpressionBuilder.comprehension,
    cst.GeneratorExp: ExpressionBuilder.comprehension,
    cst.Await: ExpressionBuilder.passed,
    cst.Yield: ExpressionBuilder.yielded,
    cst.StarredElement: ExpressionBuilder.starred,
}
if hasattr(cst, "TemplatedString"):  # since libcst 1.9: t-strings, which have the shape of f-strings
    _MAKERS[cst.TemplatedString] = ExpressionBuilder.formatted
