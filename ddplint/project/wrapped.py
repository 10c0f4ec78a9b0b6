"""Attributes of a model that are asked of the wrapper around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.project.models import Wrapper
from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.module_names import answers_to
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.structure import Class, Region, RegionKind, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_WRAPPERS = frozenset({Wrapper.DDP, Wrapper.DATA_PARALLEL})


@dataclass(frozen=True, slots=True)
class Access:
    """An attribute of the model class that is read from the wrapper, or put into it (``at`` is a store).

    ``always``: the object is wrapped on every run. ``call``: the call, where the attribute is a method that is called.
    """

    at: Attribute | Store
    model: Expression
    name: str
    wrapper: Wrapper
    cls: Class
    always: bool
    call: Call | None


class WrappedAccesses:
    """Finds them in the scripts of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Access]:
        """Yield the accesses of a script, reads first."""
        called = {id(call.callee): call for call in script.calls}
        for read in script.attributes:
            found = self._access(read, read.base, read.name, called.get(id(read)))
            if found is not None and not self._is_put(read):
                yield found
        for store in script.stores:
            if store.name is not None and not _is_taken_from_inside(store):
                found = self._access(store, store.base, store.name, None)
                if found is not None:
                    yield found

    def _access(self, at: Attribute | Store, model: Expression, name: str, call: Call | None) -> Access | None:
        if not isinstance(model, Name | Attribute) or all(answers_to(wrapper.value, name) for wrapper in _WRAPPERS):
            return None
        if UNKNOWN_NAME not in self._project.names(model):
            return None  # something imported, or a class or function of the project
        wrappers = self._project.models.wrappers(model)
        if len(wrappers & _WRAPPERS) != 1 or not wrappers <= _WRAPPERS | {Wrapper.BARE}:
            return None
        wrapper = next(iter(wrappers & _WRAPPERS))
        wraps = [] if answers_to(wrapper.value, name) else self._project.models.wraps(model, wrapper)
        cls = self._project.models.class_inside(model)
        if not wraps or cls is None or not self._knows(cls, name, isinstance(at, Store)) or not self._are_torchs(wraps):
            return None
        always = wrappers == {wrapper}
        if not always and any(self._depends_alike(at.region, wrap.region) for wrap, _ in wraps):
            return None
        return Access(at, model, name, wrapper, cls, always, call)

    def _knows(self, cls: Class, name: str, put: bool) -> bool:
        """Whether objects of a class have an attribute; one that is put into them counts when a method reads it."""
        for heir in self._project.resolver.lineage(cls):
            methods = heir.methods.values()
            if not put and (name in heir.scope.bindings or self._sets(heir, name)):
                return True
            reads = (read for read in heir.scope.script.attributes if put and read.name == name)
            if any(
                read.region.within(method.region) and _is_own(read.base, heir) for read in reads for method in methods
            ):
                return True
        return False

    def _sets(self, cls: Class, name: str) -> bool:
        stores = cls.scope.script.attribute_stores.get(name, ())
        return any(self._project.resolver.class_of(store.base) is cls for store in stores)

    def _are_torchs(self, wraps: Sequence[tuple[Call, Frame | None]]) -> bool:
        """Whether the wrapper is torch's own, which knows nothing of the model's names."""
        return all(
            self._project.certainly(wrap.callee, "torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")
            for wrap, _ in wraps
        )

    def _is_put(self, read: Attribute) -> bool:
        """Whether something is put into the wrapper under the name that is read from it."""
        return any(True for _ in self._project.resolver.stores_of(read))

    def _depends_alike(self, region: Region, wrap: Region) -> bool:
        """Whether an access stands under tests that the wrap does not stand under: they may tell if it was wrapped."""
        shared = set(map(id, wrap.around()))
        return any(outer.kind is RegionKind.BRANCH and id(outer) not in shared for outer in region.chain())


def _is_taken_from_inside(store: Store) -> bool:
    """Whether ``model.x = model.module.x`` hands something of the model to those who ask the wrapper."""
    value = store.value
    return isinstance(value, Attribute) and isinstance(value.base, Attribute) and value.base.name == "module"


def _is_own(base: Expression, cls: Class) -> bool:
    """Whether an attribute is read of the instance in a method of a class."""
    owners = {method.parameters[0].name for method in cls.methods.values() if method.parameters}
    return isinstance(base, Name) and base.id in owners
