"""Parameters without a gradient, which DataParallel puts up with and DistributedDataParallel does not."""

from __future__ import annotations

import re

from ddplint.migration.ddp.job import Job
from ddplint.migration.ddp.outcome import Refused
from ddplint.migration.ddp.site import Site
from ddplint.semantics import Attribute, Call, Expression, Name
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Class, Region, RegionKind, Store

# Models of torchvision whose forward leaves parameters out while they are trained.
_WITH_IDLE_PARTS = re.compile(r"torchvision\.models\.(?:googlenet|inception|detection|segmentation|optical_flow)")
_TORCHVISION = "torchvision.models."
_LAYERS = "torch.nn."
_CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict"})
_MOVES = frozenset({"cuda", "to", "double", "float"})
_DEEPEST = 6


def look_for_idle_parameters(job: Job, site: Site) -> None:
    """Note a model that is not proven to use all of its parameters in every forward.

    Raises Refused for one with a part that nothing ever uses: its second step would fail.
    """
    cls = job.project.resolver.class_of(_before_moves(site.module))
    for part in job.project.unused_parts.of(cls) if cls is not None else ():
        raise Refused(
            f"{part.cls.name}.{part.store.name} is made and never used, and DistributedDataParallel would wait for its "
            "gradients",
            site.module,
            "use it in forward, or remove it",
        )
    if not _all_used(job, site.module, 0):
        job.note(
            site.module,
            "it is not proven that every parameter of the model gets a gradient in every step; where one does not, "
            "DistributedDataParallel raises an error in the second step and names the parameters",
        )


def refuse_changes_after_the_wrap(job: Job, site: Site) -> None:
    """DistributedDataParallel takes the parameters as they are when it is made; raises Refused where they change."""
    changes: list[Call | Store] = [call for call in job.script.calls if last_name(call.callee) == "requires_grad_"]
    changes += [store for store in job.script.stores if store.name == "requires_grad" or _is_inside(store.base)]
    for change in changes:
        if change.region.scope is not site.scope or change.order > site.binding.order:
            raise Refused(
                "parameters of the model are frozen, freed or replaced after the wrap",
                change if isinstance(change, Call) else change.base,
                "do so before the wrap",
            )


def _is_inside(base: Expression) -> bool:
    """Whether something is put into the model inside of the wrapper, or a part of it."""
    while isinstance(base, Attribute):
        if base.name == "module":
            return True
        base = base.base
    return False


def _before_moves(model: Expression) -> Expression:
    """Return what is moved where a model is moved as it is named: ``Net().cuda()``."""
    while isinstance(model, Call) and isinstance(model.callee, Attribute) and model.callee.name in _MOVES:
        model = model.callee.base
    return model


def _all_used(job: Job, model: Expression, depth: int) -> bool:
    origins = job.project.origins(model)
    return bool(origins) and all(isinstance(origin, Call) and _made_whole(job, origin, depth) for origin in origins)


def _made_whole(job: Job, made: Call, depth: int) -> bool:
    """Whether a call makes a module whose forward uses all its parameters."""
    if isinstance(made.callee, Attribute) and made.callee.name in _MOVES:
        return _all_used(job, made.callee.base, depth)
    names = job.project.names(made.callee)
    if all(name.startswith(_TORCHVISION) and not _WITH_IDLE_PARTS.match(name) for name in names):
        return True
    if all(name.startswith(_LAYERS) for name in names):
        parts = [given.value for given in made.arguments] if _is_container(names) else []
        return all(not given.star for given in made.arguments) and all(_all_used(job, part, depth) for part in parts)
    classes = job.project.origins(made.callee)
    return bool(classes) and all(
        isinstance(cls, Class) and job.project.models.is_module(cls) and _class_uses_all(job, cls, depth + 1)
        for cls in classes
    )


def _is_container(names: frozenset[str]) -> bool:
    return any(name.rpartition(".")[2] in _CONTAINERS for name in names)


def _class_uses_all(job: Job, cls: Class, depth: int) -> bool:
    """Whether each module that the constructor keeps is called in ``forward``, whatever way it takes."""
    make, forward = cls.methods.get("__init__"), cls.methods.get("forward")
    if make is None or forward is None or depth > _DEEPEST or not forward.parameters:
        return False
    own = forward.parameters[0].name
    used = {
        read.name
        for read in cls.scope.script.attributes
        if read.scope.function is forward and _is_name(read.base, own) and _always(read.region, forward.region)
    }
    owner = make.parameters[0].name
    for store in cls.scope.script.stores:
        if store.region.scope.function is not make or store.name is None or not _is_name(store.base, owner):
            continue
        kept = store.value
        held = isinstance(kept, Call) and _may_hold_parameters(job, kept)
        if held and isinstance(kept, Call) and not (store.name in used and _made_whole(job, kept, depth)):
            return False
    return all(job.project.names(base) <= {"torch.nn.Module"} for base in cls.bases)


def _may_hold_parameters(job: Job, made: Call) -> bool:
    names = job.project.names(made.callee)
    return not all(name.startswith("builtins.") for name in names)


def _is_name(base: Expression, name: str) -> bool:
    return isinstance(base, Name) and base.id == name


def _always(region: Region, whole: Region) -> bool:
    """Whether every run of a function comes to a region of it."""
    return all(outer is whole or outer.kind is RegionKind.WITH for outer in region.chain() if outer.within(whole))
