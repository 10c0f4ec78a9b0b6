"""Parts of a model that are made with it and that nothing ever reads, so that their parameters get no gradient."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.parts import is_conditional
from ddplint.semantics import Attribute
from ddplint.semantics.structure import Class, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Words by which a program may come to a part without its name, or tells the wrapper to leave it out.
_BY_OTHER_WAYS = re.compile(
    rb"\bchildren\(|named_children|\._modules|__dict__|getattr\(|get_submodule|_set_static_graph|params_and_buffers_to_ignore"
    rb"|register_parametrization|__getattr__|\bvars\("
)


@dataclass(frozen=True, slots=True)
class UnusedPart:
    """What a constructor puts into an attribute that nobody reads, and the class of the constructor."""

    cls: Class
    store: Store


class UnusedParts:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, cls: Class) -> Iterator[UnusedPart]:
        """Yield the unused parts of a model and of the models that it is made of.

        None where the program may come to parts without their names, as by ``children()`` or ``getattr``.
        """
        if any(map(_BY_OTHER_WAYS.search, self._project.contents(cls.scope.script))):
            return
        for part in self._project.parts.classes(cls):
            yield from self._of_class(part)

    def _of_class(self, cls: Class) -> Iterator[UnusedPart]:
        lineage = self._project.resolver.lineage(cls)
        if "forward" not in cls.methods or not all(map(self._is_plain, lineage)):
            return
        constructor = cls.methods.get("__init__")
        for store in cls.scope.script.stores if constructor is not None else ():
            if store.region.scope.function is not constructor or store.name is None or store.path:
                continue
            if store.value is None or is_conditional(store) or not self._project.parts.has_parameters(store.value):
                continue
            if self._project.resolver.class_of(store.base) is cls and not self._is_read(cls, store.name):
                yield UnusedPart(cls, store)

    def _is_plain(self, cls: Class) -> bool:
        """Whether a class derives from ``nn.Module``, or from classes of the project alone."""
        known = self._project.resolver
        return all(
            self._project.names(base) == {"torch.nn.Module"}
            or any(isinstance(origin, Class) for origin in known.origins(base))
            for base in cls.bases
        )

    def _is_read(self, cls: Class, name: str) -> bool:
        """Whether anything in the program may read an attribute of a class, or names it in a text."""
        quoted = re.compile(rb"[\"'.]" + re.escape(name.encode()) + rb"[\"'.]")
        if any(map(quoted.search, self._project.contents(cls.scope.script))):
            return True
        for path in self._project.program_of(cls.scope.script):
            if name.encode() not in self._project.files.content(path):
                continue
            script = self._project.script(path)
            if script is None or any(self._may_be_of(read, cls) for read in script.attributes if read.name == name):
                return True
        return False

    def _may_be_of(self, read: Attribute, cls: Class) -> bool:
        """Whether an attribute that is read may be one of a class: all but what is another class's for certain."""
        owner = self._project.resolver.class_of(read.base)
        if owner is None:
            return True
        lineages = (self._project.resolver.lineage(owner), self._project.resolver.lineage(cls))
        return cls in lineages[0] or owner in lineages[1]
