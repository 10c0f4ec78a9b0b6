"""Where one process drives several GPUs: every form of DataParallel in a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ddplint.project.reach import Reach, body_of
from ddplint.semantics import Attribute, Call, Expression, Script
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.expressions import last_name
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Class, Function

TORCH_CLASS = "torch.nn.DataParallel"
TORCH_FUNCTION = "torch.nn.parallel.data_parallel"
# Classes of well-known packages that derive from torch's, by the ends of the names they are imported under.
_LIBRARY_CLASSES = (
    "sync_batchnorm.DataParallelWithCallback",
    "sync_batchnorm.replicate.DataParallelWithCallback",
    "encoding.nn.DataParallelModel",
    "encoding.nn.DataParallelCriterion",
    "encoding.parallel.DataParallelModel",
    "encoding.parallel.DataParallelCriterion",
    "torch_geometric.nn.DataParallel",
    "torch_geometric.nn.data_parallel.DataParallel",
)
_DDP_NAME = re.compile(r"DistributedDataParallel|DDP$|(?:^|_)ddp(?:_|$)", re.IGNORECASE)
# Names of modules that follow others instead of being trained.
_AVERAGE = re.compile(r"(?:^|_)ema(?:_|$)|teacher|momentum_encoder", re.IGNORECASE)


class Form(Enum):
    """What is used: torch's class, torch's function, or a class of the project's or a library's own."""

    CLASS = "class"
    FUNCTION = "function"
    OWN_CLASS = "own class"


@dataclass(frozen=True, slots=True)
class DataParallelUse:
    """A call that spreads a module over GPUs; ``module`` is what it is given, None where that can't be seen."""

    call: Call
    form: Form
    name: str
    module: Expression | None


class DataParallelUses:
    """Answers for DataParallel and for the DistributedDataParallel beside it."""

    def __init__(self, resolver: Resolver, reach: Reach) -> None:
        self._resolver = resolver
        self._reach = reach

    def of(self, script: Script) -> Iterator[DataParallelUse]:
        """Yield the uses in a script, in source order; what stands inside a class of the kind is left out."""
        for call in script.calls:
            form = self._form(call)
            if form is not None and not self._is_inside_own_class(call):
                yield DataParallelUse(call, form, last_name(call.callee), self._module(call))

    def _form(self, call: Call) -> Form | None:
        names = self._resolver.names(call.callee)
        if TORCH_CLASS in names:
            return Form.CLASS
        if TORCH_FUNCTION in names:
            return Form.FUNCTION
        if any(name.endswith(_LIBRARY_CLASSES) for name in names):
            return Form.OWN_CLASS
        if "parallel" not in last_name(call.callee).lower():
            return None
        return Form.OWN_CLASS if self._stands_in_for_class(call.callee) else None

    def _stands_in_for_class(self, callee: Expression) -> bool:
        """Whether a callee is a class of the project that derives from torch's, or a function named like it."""
        if TORCH_CLASS in self._resolver.kinds(callee):
            return True
        return any(self._makes_data_parallel(origin) for origin in self._resolver.origins(callee))

    def _makes_data_parallel(self, origin: object) -> bool:
        if not isinstance(origin, Function) or origin.name != "DataParallel":
            return False
        calls = self._reach.calls_in(origin)
        return any(TORCH_CLASS in self._resolver.names(call.callee) for call in calls)

    def _is_inside_own_class(self, call: Call) -> bool:
        """Whether a call stands in a stand-in for torch's class: its users are spoken to instead."""
        body = body_of(call)
        if not isinstance(body, Function):
            return False
        return self._makes_data_parallel(body) or (body.cls is not None and self._is_own_class(body.cls))

    def _is_own_class(self, cls: Class) -> bool:
        bases = (base for heir in self._resolver.lineage(cls) for base in heir.bases)
        return any(TORCH_CLASS in self._resolver.names(base) for base in bases)

    def _module(self, call: Call) -> Expression | None:
        given = argument(self._resolver, call, "module")
        if not isinstance(given, Missing):
            return given
        first = call.arguments[0] if call.arguments else None
        return first.value if first is not None and not first.star and first.keyword is None else None

    def has_ddp(self, script: Script) -> bool:
        """Whether a script can wrap a model in DistributedDataParallel, itself or through a helper it calls."""
        return any(map(self._is_ddp, script.calls)) or any(map(self._makes_ddp, script.calls))

    def _is_ddp(self, call: Call) -> bool:
        names = {last_name(call.callee), *(name.rpartition(".")[2] for name in self._resolver.names(call.callee))}
        return any(_DDP_NAME.search(name) for name in names)

    def _makes_ddp(self, call: Call) -> bool:
        function = self._resolver.function_of(call)
        return function is not None and any(map(self._is_ddp, self._reach.calls_in(function.outermost)))

    def tells_apart(self, call: Call) -> bool:
        """Whether a call runs only where the module was found to be DataParallel already: code that converts."""
        tests = [region.test for region in call.region.chain() if region.test is not None and region.holds]
        return any(
            isinstance(part, Call)
            and last_name(part.callee) == "isinstance"
            and any("DataParallel" in last_name(inner) for given in part.arguments for inner in given.value.walk())
            for test in tests
            for part in test.walk()
        )

    def evaluates(self, use: DataParallelUse) -> bool:
        """Whether the module certainly gets no gradient: ``DataParallel(net).eval()``, an average, a teacher."""
        named = "" if use.module is None else last_name(use.module)
        return bool(_AVERAGE.search(named)) or any(
            _evaluates(call, use) for call in self._reach.calls_in(body_of(use.call))
        )

    def evaluates_by_name(self, use: DataParallelUse) -> bool:
        """Whether a function that wraps a module also puts it into evaluation mode, and never into training mode."""
        calls = self._reach.calls_in(body_of(use.call))
        modes = {call.callee.name for call in calls if isinstance(call.callee, Attribute) and _names(call.callee, use)}
        return "eval" in modes and "train" not in modes


def _evaluates(call: Call, use: DataParallelUse) -> bool:
    """Whether a call is ``.eval()`` of the expression that is wrapped, or of the wrap."""
    if not isinstance(call.callee, Attribute) or call.callee.name != "eval":
        return False
    return call is use.module or any(part is use.call for part in call.callee.base.walk())


def _names(callee: Attribute, use: DataParallelUse) -> bool:
    named = "" if use.module is None else last_name(use.module)
    return bool(named) and last_name(callee.base) == named
