"""Who calls a function, in any file of the project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ddplint.project.files import PROGRAM, ProjectFiles
from ddplint.project.scripts import Scripts
from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.launchers import LAUNCHER_NAMES, launched
from ddplint.semantics.names import UNKNOWN_NAME, UNSETTLED
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Function

# More files than this that mention a function's name: its callers are not looked for.
SEARCHED_FOR_CALLERS = 60


@dataclass(slots=True)
class _Index:
    """What a script calls, starts in other processes and reads, by the last name of it.

    ``renamed``: the names under which a script imports what has another name where it is defined.
    """

    renamed: dict[str, set[str]] = field(default_factory=dict)
    called: dict[str, list[Call]] = field(default_factory=dict)
    launched: dict[str, list[tuple[Call, Expression]]] = field(default_factory=dict)
    read: dict[str, list[Name]] = field(default_factory=dict)


class Callers:
    """Finds the calls of functions, those through ``mp.spawn``, ``Process`` and ``Thread`` included."""

    def __init__(self, files: ProjectFiles, scripts: Scripts, resolver: Resolver) -> None:
        self._files = files
        self._scripts = scripts
        self._resolver = resolver
        self._known: dict[int, tuple[Sequence[Call], bool]] = {}
        self._indices: dict[int, _Index] = {}

    def of(self, function: Function) -> tuple[Sequence[Call], bool]:
        """Return the calls of a function that can be seen, and whether these are all."""
        if id(function) not in self._known:
            self._known[id(function)] = UNSETTLED  # what a question that needs its own answer gets
            self._known[id(function)] = self._find(function)
        return self._known[id(function)]

    def _find(self, function: Function) -> tuple[Sequence[Call], bool]:
        called = function.cls.name if function.cls is not None and function.name == "__init__" else function.name
        scripts, complete = self._mentioning(called, function.script)
        calls: list[Call] = []
        for script in scripts:
            index = self._index(script)
            for name in (called, *sorted(index.renamed.get(called, ()))):
                complete &= self._note_calls(function, name, index, calls)
        return calls, complete

    def _note_calls(self, function: Function, name: str, index: _Index, calls: list[Call]) -> bool:
        """Note a function's calls under one name in one script; return whether the name is read for nothing else."""
        accounted: set[int] = set()
        complete = True
        for call, target in index.launched.get(name, ()):
            accounted.add(id(target))
            if function in self._resolver.origins(target):
                calls.append(call)
        for call in index.called.get(name, ()):
            accounted.add(id(call.callee))
            runs = self._resolver.function_of(call)
            if runs is function:
                calls.append(call)
            complete &= runs is not None or self._is_foreign(call) or self._asks_object(function, call)
        return complete and all(id(read) in accounted for read in index.read.get(name, ()))

    def _index(self, script: Script) -> _Index:
        if id(script) not in self._indices:
            index = self._indices[id(script)] = _Index()
            for read in script.names:
                index.read.setdefault(read.id, []).append(read)
            for name, imported in _renamed(script):
                index.renamed.setdefault(imported, set()).add(name)
            # What a callee stands for is the dear question: it is asked of those that are called like a launcher.
            launchers = LAUNCHER_NAMES.union(*(index.renamed.get(name, ()) for name in LAUNCHER_NAMES))
            for call in script.calls:
                last = _last_name(call.callee)
                index.called.setdefault(last, []).append(call)
                target = launched(self._resolver, call) if last in launchers else None
                if target is not None:
                    index.launched.setdefault(_last_name(target), []).append((call, target))
        return self._indices[id(script)]

    def _is_foreign(self, call: Call) -> bool:
        """Whether a call certainly runs nothing of the project."""
        return all(name[0] not in "?<" for name in self._resolver.names(call.callee))

    def _asks_object(self, function: Function, call: Call) -> bool:
        """Whether a call asks an object for a method, ``model.train()``, where the function is no method."""
        callee = call.callee
        if function.cls is not None or not isinstance(callee, Attribute):
            return False
        return self._resolver.names(callee.base) == {UNKNOWN_NAME}

    def _mentioning(self, word: str, own: Script) -> tuple[list[Script], bool]:
        """Return the scripts that may call what a script defines under a name, and whether these are all.

        Only files that run together with it can: those that lead to it, and what they import.
        """
        home = self._scripts.path_of(own)
        program = () if home is None else self._files.program(home)
        paths = [path for path in program if path != home and self._files.holds(path, word)]
        complete = len(program) < PROGRAM and len(paths) <= SEARCHED_FOR_CALLERS
        scripts = [self._scripts.at(path) for path in paths] if complete else []
        complete &= None not in scripts
        return [own, *(script for script in scripts if script is not None)], complete


def _renamed(script: Script) -> Iterator[tuple[str, str]]:
    """Yield each name that an import gives to something of another name, and that name."""
    for scope in (script.scope, *(function.scope for function in script.functions)):
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                imported = binding.imported.rpartition(".")[2]
                if imported and imported != name:
                    yield name, imported


def _last_name(expression: Expression) -> str:
    if isinstance(expression, Name):
        return expression.id
    return expression.name if isinstance(expression, Attribute) else ""
