"""Where objects of a class are made, in any file of the project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ddplint.project.callers import SEARCHED_FOR_CALLERS
from ddplint.project.files import ProjectFiles
from ddplint.project.scripts import Scripts
from ddplint.semantics import Call, Script
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Class


class Instances:
    """Finds the calls that make objects of classes, those of classes that derive from them included."""

    def __init__(self, files: ProjectFiles, scripts: Scripts, resolver: Resolver) -> None:
        self._files = files
        self._scripts = scripts
        self._resolver = resolver
        self._known: dict[int, Sequence[Call]] = {}

    def of(self, cls: Class) -> Sequence[Call]:
        """Return the calls that can be seen to make an object that is of a class."""
        if id(cls) not in self._known:
            self._known[id(cls)] = ()  # what a question that needs its own answer gets
            self._known[id(cls)] = tuple(self._find(cls))
        return self._known[id(cls)]

    def _find(self, cls: Class) -> Iterator[Call]:
        for script in self._mentioning(cls):
            for call in script.calls:
                if cls in self._resolver.origins(call.callee):
                    yield call
            for heir in script.classes:
                if heir is not cls and any(cls in self._resolver.origins(base) for base in heir.bases):
                    yield from self.of(heir)

    def _mentioning(self, cls: Class) -> Iterator[Script]:
        own = cls.scope.script
        home = self._scripts.path_of(own)
        program = () if home is None else self._files.program(home)
        paths = [path for path in program if self._files.holds(path, cls.name)]
        yield own
        if len(paths) <= SEARCHED_FOR_CALLERS:
            found = (self._scripts.at(path) for path in paths)
            yield from (script for script in found if script is not None and script is not own)
