"""What may keep some ranks away from a place: tests of the rank, and all that scripts do in their stead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Comparison, Constant, Expression, Logic, Name, Not
from ddplint.semantics.expressions import last_name
from ddplint.semantics.ranks import names_rank
from ddplint.semantics.reaching import reaching
from ddplint.semantics.shown import shown
from ddplint.semantics.structure import BindingKind, Parameter, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Names of tests that tell a run with several processes from one with a single process.
_SEVERAL = re.compile(
    r"distribut|world_?size|n(?:um)?_?gpus?(?:_|$)|ddp|fsdp|multi_?gpu|is_initialized|n_?procs|parallel|multi_?proc"
    r"|(?:^|_)dist(?:_|$)",
    re.IGNORECASE,
)
# Names of switches for a run with a single process.
_SINGLE = re.compile(r"standalone|single_?(?:gpu|proc|process|node)(?:_|$)|no_?dist", re.IGNORECASE)
# Names of switches and objects that scripts hand to one rank only, so that it alone speaks.
_VOICE = re.compile(
    r"verbose|log|debug|writer|print|display|show|quiet|silent|wandb|^tb|board|tqdm|progress", re.IGNORECASE
)
# Contexts in which one rank goes first, and does what the others then need not do.
_IN_TURN = re.compile(
    r"zero_first|rank_?0_first|(?:main|master|local)\w*_first|wait_for_the_master|file_?lock|interprocess_?lock",
    re.IGNORECASE,
)


class Selective:
    """Answers whether ranks may stay away from a place, as far as its own function tells."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def may_miss(self, at: Expression, *, of_options: bool = True) -> bool:
        """Whether some ranks may not come to an expression, though they run the function around it.

        ``of_options``: where an option of the command line is called ``verbose`` or the like, too. Without it, a test
        that only one of several callers has made to part the ranks counts.
        """
        if self._project.guards.beside(at) is not None or self._project.turns.is_in_turn(at):
            return True
        if any(_is_passed_before(test, at) for test in at.scope.script.asserted if _names_one_rank(test)):
            return True
        return any(self._lets_some_in(region, of_options) for region in at.region.chain())

    def is_for_one(self, at: Expression) -> bool:
        """Whether an expression stands where a run with a single process goes: ``if distributed: ... else: here``."""
        return any(map(_is_for_one, at.region.chain()))

    def _lets_some_in(self, region: Region, of_options: bool) -> bool:
        """Whether a region is run on an error, in turn, by a single process, or as a switch says."""
        if region.kind is RegionKind.HANDLER or any(_IN_TURN.search(last_name(one)) for one in region.contexts):
            return True
        test = region.test
        if region.kind is not RegionKind.BRANCH or test is None:
            return False
        if any(_VOICE.search(last_name(part)) and (of_options or not self._is_option(part)) for part in _asked(test)):
            return True
        if _is_for_one(region) or _is_ruled_out(region, test):
            return True
        if not of_options and self._project.rank_outcomes.parts(region):
            return True
        return any(self._may_be_off(switch, wanted) for switch, wanted in _switches(test, region.holds))

    def _is_option(self, switch: Expression) -> bool:
        """Whether a switch comes from the command line, or from a constant of the file: the same on all ranks."""
        if self._project.options.of(switch) is not None:
            return True
        return isinstance(switch, Name) and self._project.constants(switch) is not None

    def _may_be_off(self, switch: Expression, wanted: bool) -> bool:
        """Whether a parameter that is asked for its truth may come out as not wanted, or not on every rank."""
        bindings = reaching(switch.id, switch) if isinstance(switch, Name) else None
        parameters = [binding.parameter for binding in bindings or () if binding.kind is BindingKind.PARAMETER]
        return any(parameter is not None and not self._is_given(parameter, wanted) for parameter in parameters)

    def _is_given(self, parameter: Parameter, wanted: bool) -> bool:
        """Whether a call gives a parameter a value that can be as wanted, and that is the same on all ranks."""
        function = parameter.function
        for call in self._project.callers(function)[0]:
            value = self._project.resolver.bound(call, function).get(parameter.name, parameter.default)
            if value is None or self._project.rank_tests.asks_rank(value):
                continue
            if not isinstance(value, Constant) or bool(value.value) is wanted:
                return True
        return False


def _is_for_one(region: Region) -> bool:
    """Whether a test of the number of processes lets only a single one into a region."""
    test = region.test
    if region.kind is not RegionKind.BRANCH or test is None:
        return False
    if any(wanted and _SINGLE.search(last_name(switch)) for switch, wanted in _switches(test, region.holds)):
        return True
    several = any(_SEVERAL.search(last_name(part)) for part in _asked(test))
    return several and not (region.holds and _says_several(test))


def _is_ruled_out(region: Region, test: Expression) -> bool:
    """Whether an assertion beside the start of the group forbids a switch that a region needs: ``assert not tune``."""
    script = region.scope.script
    forbidden = {
        (shown(switch), not wanted)
        for asserted in script.asserted
        if not isinstance(asserted, Logic) and _has_start(asserted.region)
        for switch, wanted in _switches(asserted, True)
    }
    return bool(forbidden) and any(
        (shown(switch), wanted) in forbidden for switch, wanted in _switches(test, region.holds)
    )


def _has_start(region: Region) -> bool:
    starts = (call for call in region.scope.script.calls if last_name(call.callee) == "init_process_group")
    return any(start.region.within(region) for start in starts)


def _is_passed_before(test: Expression, at: Expression) -> bool:
    """Whether an assertion holds wherever an expression is reached."""
    return test.scope.function is at.scope.function and test.order < at.order and at.region.within(test.region)


def _names_one_rank(test: Expression) -> bool:
    """Whether a test is ``rank == 0``, with whatever number."""
    if not isinstance(test, Comparison) or len(test.comparisons) != 1:
        return False
    (operator, right), *_ = test.comparisons
    return operator == "==" and isinstance(right, Constant) and names_rank(last_name(test.left))


def _asked(test: Expression) -> Iterator[Expression]:
    """Yield the names of which a test asks whether they are true, or what they compare with."""
    if isinstance(test, Not):
        yield from _asked(test.operand)
    elif isinstance(test, Logic):
        for operand in test.operands:
            yield from _asked(operand)
    elif isinstance(test, Comparison):
        yield from (side for side in test.children if not isinstance(side, Constant))
    else:
        yield test


def _switches(test: Expression, wanted: bool) -> Iterator[tuple[Expression, bool]]:
    """Yield what a test asks for nothing but its truth, or whether it is there, with what it has to be."""
    if isinstance(test, Not):
        yield from _switches(test.operand, not wanted)
    elif isinstance(test, Logic):
        for operand in test.operands:
            yield from _switches(operand, wanted)
    elif isinstance(test, Comparison):
        operators = [operator for operator, _ in test.comparisons]
        if operators in (["is"], ["is not"]):
            yield test.left, wanted is (operators == ["is not"])
    else:
        yield test, wanted


def _says_several(test: Expression) -> bool:
    """Whether a test holds with several processes: ``args.distributed``, ``world_size > 1``."""
    if isinstance(test, Comparison):
        (operator, right), *more = test.comparisons
        return not more and operator in (">", ">=", "!=") and isinstance(right, Constant)
    if isinstance(test, Logic) and test.operator == "and":
        return all(map(_says_several, test.operands))
    return isinstance(test, Name | Attribute | Call)
