"""Whether code that hangs can be mended in place: a barrier moved out of a test, a wrapper taken off for evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ddplint.project.balance import Lopsided
from ddplint.project.models import Wrapper
from ddplint.project.sites import Site
from ddplint.semantics import Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Parameter, Region, RegionKind

if TYPE_CHECKING:
    import libcst as cst

    from ddplint.project.project import Project

# What a function may ask of a model and get the same answer from the model inside.
_ALIKE = frozenset({"eval", "train", "training", "parameters", "modules", "buffers"})


class Moves:
    """Answers for what the balance of a project finds."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def barrier_out(self, found: Lopsided) -> tuple[cst.CSTNode, cst.CSTNode] | None:
        """Return the line of a barrier that ends the body of a plain test of the rank, and that ``if``.

        All ranks can then call it behind the ``if``. None for a barrier that stands otherwise, is given anything, or
        is under a switch as well.
        """
        call, region = found.site.call, found.site.call.region
        whole = found.site.kind == "barrier" and len(found.site.path) == 1 and not call.arguments
        if found.doubtful or not whole or region.test is not found.guard or not region.holds or _is_elif(region):
            return None
        node: Any = region.node
        lines: tuple[Any, ...] = tuple(getattr(getattr(node, "body", None), "body", ()))
        plain = len(self._project.rank_outcomes.of(found.guard)) == 1 and getattr(node, "orelse", call) is None
        if not plain or len(lines) < 2 or lines[-1] is not call.statement.node:
            return None
        last: Any = lines[-1]
        whole = len(last.body) == 1 and getattr(last.body[0], "value", None) is call.node
        return (last, node) if whole else None

    def wrapper_off(self, site: Site) -> Expression | None:
        """Return the wrapped model in a call that evaluates it, where the model inside does the same without meeting.

        That is the callee of a forward without gradient, or an argument of which the function that gets it does
        nothing but evaluate.
        """
        if not self._project.training.without_gradient(site.collective):
            return None
        if len(site.path) == 1:
            return self._if_certain(site.call.callee)
        function = self._project.collectives.runs(site.call)
        if function is None or len(site.path) != 2 or any(given.star for given in site.call.arguments):
            return None
        given = self._project.resolver.bound(site.call, function)
        models = [(given[one.name], one) for one in function.parameters if one.name in given]
        models = [(model, parameter) for model, parameter in models if self._if_certain(model) is not None]
        if len(models) != 1 or not all(self._only_evaluates(read) for read in _reads(models[0][1])):
            return None
        return models[0][0]

    def _if_certain(self, model: Expression) -> Expression | None:
        return model if self._project.models.is_certainly(model, Wrapper.DDP) else None

    def _only_evaluates(self, read: Name) -> bool:
        script = read.scope.script
        if any(call.callee is read for call in script.calls):
            return True
        return any(attribute.base is read and attribute.name in _ALIKE for attribute in script.attributes)


def _is_elif(region: Region) -> bool:
    """Whether the ``if`` of a region is the ``elif`` of another one."""
    outer = region.parent
    return outer is not None and outer.kind is RegionKind.BRANCH and getattr(outer.node, "orelse", None) is region.node


def _reads(parameter: Parameter) -> Iterator[Name]:
    for name in parameter.function.script.names:
        if name.id == parameter.name and any(
            binding.parameter is parameter for binding in reaching(name.id, name) or ()
        ):
            yield name
