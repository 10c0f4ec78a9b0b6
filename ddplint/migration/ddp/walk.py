"""The walk over all that a script runs, as every process will run it.

Each statement is looked at with the values of its names: samples of the process's own share may go into the model, the
loss and its backward pass. Whatever else becomes of them is brought together over the processes; where it is not known
how, that is a point for the author, and where the processes could go different ways, the migration is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.statements import Statements
from ddplint.migration.ddp.value import MODULE, Frame, Share, Value
from ddplint.migration.ddp.values import Values
from ddplint.semantics import Attribute, Call, Expression
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Loop

# Methods of containers and of meters that take what they are given, and of bars that show it.
_TAKES = frozenset({"append", "update", "add", "extend", "set_description", "set_postfix", "set_postfix_str", "write"})
_SKIPPED = frozenset(
    {"FunctionDef", "ClassDef", "Import", "ImportFrom", "Global", "Nonlocal", "Pass", "Break", "Continue", "Del"}
)
# Statements that processes may run or not, each by itself: they change nothing that the others wait for.
_FREE = frozenset(
    {"SimpleStatementLine", "Expr", "Assign", "AugAssign", "AnnAssign", "Pass", "If", "Else", "IndentedBlock"}
)


class Walk:
    """Walks through the file and every function of it that is run from there."""

    def __init__(self, job: Job, values: Values, batches: Loop) -> None:
        self._job = job
        self._project = job.project
        self._script = job.script
        self._values = values
        self._batches = batches
        self._statements = Statements(job.script)
        self._depth = 0
        self.backwards: list[Call] = []
        self.decisions: dict[int, Expression] = {}
        self.unproven: dict[int, Expression] = {}

    def run(self) -> None:
        """Look at every statement; raises Refused at the first that can't be run by several processes."""
        self._block(self._script.module.body, MODULE)
        walked: set[Frame] = set()
        while waiting := [frame for frame in self._values.entered if frame not in walked]:
            for frame in waiting:
                walked.add(frame)
                self._function(frame)
        self._check_shared()

    def _function(self, frame: Frame) -> None:
        function = frame.function
        if function is None or function.is_lambda or function.script is not self._script:
            return
        node: Any = function.node
        self._block(node.body.body, frame)

    def _check_shared(self) -> None:
        """What is brought together in a function must be so for every call of it."""
        for expression, _, frame in list(self._values.reduced.values()):
            function = frame.function
            if function is None:
                continue
            if function.script is not self._script:
                self._job.note(expression, f"{function.name} makes a number of one process's own samples")
                del self._values.reduced[id(expression)]
                continue
            ways = [known for known in self._values.entered if known.function is function]
            if len(ways) > 1:
                raise Refused(
                    f"{function.name} makes a number of the batch, and is called for other data, too", expression
                )

    # Statements.

    def _block(self, statements: Sequence[Any], frame: Frame) -> None:
        for node in statements:
            kind = type(node).__name__
            if kind == "SimpleStatementLine":
                self._block(node.body, frame)
            elif kind not in _SKIPPED:
                reader = getattr(self, f"_{kind.lower()}", None)
                if reader is None:
                    self._unread(node, frame)
                else:
                    reader(node, frame)

    def _expr(self, node: Any, frame: Frame) -> None:
        expression = self._statements.expression(node.value)
        if isinstance(expression, Call):
            self._call(expression, frame)
        elif expression is not None:
            self._values.of(expression, frame)

    def _assign(self, node: Any, frame: Frame) -> None:
        value = self._statements.expression(node.value)
        if value is None:
            return
        worth = self._values.of(value, frame)
        for target in node.targets:
            self._target(target.target, value, worth, frame)

    def _annassign(self, node: Any, frame: Frame) -> None:
        value = None if node.value is None else self._statements.expression(node.value)
        if value is not None:
            self._target(node.target, value, self._values.of(value, frame), frame)

    def _target(self, target: Any, value: Expression, worth: Value, frame: Frame) -> None:
        """A name can hold anything; what an object or a container gets has to be the same everywhere."""
        if type(target).__name__ in ("Tuple", "List", "Name", "StarredElement"):
            return
        if not worth.is_settled:
            self._settle(value, frame, "is kept in an object")
        elif worth.share is Share.MEASURED and _sets_rate(target):
            self.decisions[id(value)] = value

    def _augassign(self, node: Any, frame: Frame) -> None:
        added = self._statements.expression(node.value)
        if added is None:
            return
        binding = self._statements.binding(node.target)
        if binding is not None and self._values.leads_to_gradient(binding):
            self._values.of(added, frame)
            return
        self._settle(added, frame, "is added up")

    def _return(self, node: Any, frame: Frame) -> None:
        expression = None if node.value is None else self._statements.expression(node.value)
        if expression is not None:
            self._values.of(expression, frame)

    def _assert(self, node: Any, frame: Frame) -> None:
        self._test(node.test, frame, ())

    def _raise(self, node: Any, frame: Frame) -> None:
        self._values_in(node, frame)

    def _if(self, node: Any, frame: Frame) -> None:
        inside = [*node.body.body]
        if node.orelse is not None:
            inside += [node.orelse] if type(node.orelse).__name__ == "If" else node.orelse.body.body
        self._test(node.test, frame, inside)
        self._block(inside, frame)

    def _while(self, node: Any, frame: Frame) -> None:
        self._test(node.test, frame, (node,))
        self._block(node.body.body, frame)

    def _for(self, node: Any, frame: Frame) -> None:
        iterable = self._statements.expression(node.iter)
        if node is not self._batches.node and iterable is not None:
            worth = self._values.of(iterable, frame)
            if not worth.is_settled and not worth.items and self._joint_call(node.body, frame) is not None:
                raise Refused("a loop over values of the batch can end sooner on one process", iterable)
        self._block(node.body.body, frame)
        if node.orelse is not None:
            self._block(node.orelse.body.body, frame)

    def _with(self, node: Any, frame: Frame) -> None:
        for item in node.items:
            expression = self._statements.expression(item.item)
            if expression is not None:
                self._values.of(expression, frame)
        self._block(node.body.body, frame)

    def _try(self, node: Any, frame: Frame) -> None:
        """What fails on one process is not caught on the others."""
        joint = self._joint_call(node, frame)
        if joint is not None and node.handlers:
            self._job.note(joint, "a process that fails here, and goes on, leaves the others waiting")
        self._block(node.body.body, frame)
        for part in (*node.handlers, node.orelse, node.finalbody):
            if part is not None:
                self._block(part.body.body, frame)

    def _unread(self, node: Any, frame: Frame) -> None:
        """A statement that can part the processes: nothing that they do together may stand in it."""
        joint = self._joint_call(node, frame)
        if joint is not None:
            raise Refused("a step that runs in another way leaves the other processes waiting", joint)

    def _joint_call(self, node: Any, frame: Frame) -> Call | None:
        """Return the first call below a node that all processes have to make."""
        found = map(self._statements.expression, _below(node))
        return next((call for call in found if isinstance(call, Call) and self._is_joint(call, frame)), None)

    def _is_joint(self, call: Call, frame: Frame) -> bool:
        own = self._project.resolver.function_of(call)
        model = self._values.of(call.callee, frame).share is Share.MODEL
        return (
            model or last_name(call.callee) in ("backward", "step") or (own is not None and own.script is self._script)
        )

    def _values_in(self, node: Any, frame: Frame) -> None:
        for child in _below(node):
            expression = self._statements.expression(child)
            if expression is not None:
                self._values.of(expression, frame)

    # Tests.

    def _test(self, node: Any, frame: Frame, inside: Sequence[Any]) -> None:
        """All processes have to go the same way, where it leads to what they do together."""
        test = self._statements.expression(node)
        if test is None:
            return
        if not self._values.of(test, frame).is_settled:
            failure = self._settle(test, frame, "decides which way to go")
            if failure is not None and not self._is_free(inside, frame):
                raise Refused("a value of the process's own share of the batch decides which way to go", failure)
        elif self._values.of(test, frame).share is Share.MEASURED and not self._is_free(inside, frame):
            self.decisions[id(test)] = test

    def _is_free(self, nodes: Sequence[Any], frame: Frame) -> bool:
        """Whether processes can go different ways through some statements, and all is well."""
        for node in nodes:
            for child in _statements_below(node):
                if type(child).__name__ not in _FREE:
                    return False
            for child in _below(node):
                expression = self._statements.expression(child)
                if isinstance(expression, Call) and (
                    self._is_joint(expression, frame) or last_name(expression.callee).startswith("load")
                ):
                    return False
            if any(type(target).__name__ in ("Attribute", "Subscript") for target in _targets(node)):
                return False
        return True

    # Calls.

    def _call(self, call: Call, frame: Frame) -> None:
        """A call whose value nobody takes."""
        if isinstance(call.callee, Attribute) and call.callee.name == "backward":
            self._backward(call, call.callee.base, frame)
            return
        worth = self._values.of(call, frame)
        if worth.is_settled and self._takes_settled(call, frame):
            if last_name(call.callee) == "step":
                measured = [given.value for given in call.arguments if self._is_measured(given.value, frame)]
                self.decisions.update((id(value), value) for value in measured)
            return
        if self._is_inner(call, frame):
            return
        for argument in call.arguments:
            if not self._values.of(argument.value, frame).is_settled:
                self._settle(argument.value, frame, f"is given to {last_name(call.callee)}")

    def _is_measured(self, value: Expression, frame: Frame) -> bool:
        return self._values.of(value, frame).share is Share.MEASURED

    def _takes_settled(self, call: Call, frame: Frame) -> bool:
        return all(self._values.of(argument.value, frame).is_settled for argument in call.arguments)

    def _is_inner(self, call: Call, frame: Frame) -> bool:
        """Whether a call is looked into: a function of this file that is given more than numbers."""
        function = self._project.resolver.function_of(call)
        if function is None or function.script is not self._script or function.cls is not None:
            return False
        given = [argument.value for argument in call.arguments]
        return any(self._values.unsettled(value, frame) is not None for value in given)

    def _backward(self, call: Call, loss: Expression, frame: Frame) -> None:
        if call.arguments:
            raise Refused("backward is given arguments", call)
        scaled = isinstance(loss, Call) and isinstance(loss.callee, Attribute) and loss.callee.name == "scale"
        if scaled and isinstance(loss, Call) and len(loss.arguments) == 1:
            loss = loss.arguments[0].value
        share = self._values.of(loss, frame).share
        if share is Share.SUM:
            raise Refused(
                "the loss is a sum over the batch, and the processes' gradients are averaged",
                loss,
                "use a mean",
            )
        if share is not Share.MEAN:
            self.unproven[id(loss)] = loss
        self.backwards.append(call)

    def _settle(self, expression: Expression, frame: Frame, what: str) -> Expression | None:
        """Bring a value together, or have the author look at the part for which that can't be done; return that."""
        failure = self._values.unsettled(expression, frame)
        if failure is None:
            self._values.settle(expression, frame)
        else:
            self._job.note(
                failure,
                f"what one process has made of its own samples {what}: sum or average it over the processes, as is "
                "done with the numbers beside it, or take it for what it is",
            )
        return failure


def _below(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(current.children)


def _statements_below(node: Any) -> Iterator[Any]:
    """Yield the statements in a statement, itself included."""
    yield node
    for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
        lines = (block,) if type(block).__name__ in ("If", "Else", "IndentedBlock", "SimpleStatementSuite") else block
        for line in lines if isinstance(lines, tuple | list) else ():
            yield from _statements_below(line)


def _sets_rate(target: Any) -> bool:
    """Whether a target is a learning rate: ``group["lr"]``."""
    return type(target).__name__ == "Subscript" and any(
        getattr(child, "value", None) in ("'lr'", '"lr"') for child in _below(target)
    )


def _targets(node: Any) -> Iterator[Any]:
    for child in _below(node):
        if type(child).__name__ in ("AssignTarget", "AugAssign", "AnnAssign"):
            yield child.target
