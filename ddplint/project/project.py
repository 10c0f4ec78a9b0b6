"""Many files: the scripts of one root, linked, and the questions that need more than one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ddplint.project.callers import Callers
from ddplint.project.collectives import Collectives
from ddplint.project.files import ProjectFiles
from ddplint.project.frameworks import frameworks_in
from ddplint.project.links import Imports
from ddplint.project.models import Models
from ddplint.project.scripts import Scripts
from ddplint.semantics import Call, Constant, Expression, Script
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.names import Definition
from ddplint.semantics.rank_values import RankValues
from ddplint.semantics.ranks import RankTests
from ddplint.semantics.resolve import Origin, Resolver
from ddplint.semantics.structure import Function

# Any of these words shows that a program runs as several processes that train together.
DISTRIBUTION_WORDS = (
    b"init_process_group",
    b"DistributedDataParallel",
    b"DistributedSampler",
    b"torchrun",
    b"torch.distributed.launch",
    b"mp.spawn",
    b"LOCAL_RANK",
    b"WORLD_SIZE",
)
_PRINT_REPLACED = re.compile(rb"\b(?:__builtins?__|builtins?)\.print\s*=[^=]")


class Project:
    """The scripts below one root. Each file is read and parsed once, when a question needs it."""

    def __init__(self, root: Path) -> None:
        self.files = ProjectFiles(root)
        self.scripts = Scripts(self.files)
        self.imports = Imports(self.files, self.scripts)
        self.resolver = Resolver(self)
        self.rank_values = RankValues(self.resolver, self)
        self.rank_tests = RankTests(self.resolver, self.rank_values)
        self.models = Models(self.resolver)
        self.collectives = Collectives(self.resolver, self.models)
        self._callers = Callers(self.files, self.scripts, self.resolver)
        self._programs: dict[Path, tuple[Path, ...]] = {}
        self._calls: dict[int, dict[str, list[Call]]] = {}

    def add(self, script: Script, path: Path) -> None:
        """Take in a script that was parsed elsewhere, so that its file is not parsed again."""
        self.scripts.add(script, path)

    def script(self, path: Path) -> Script | None:
        """Return the script of a file of the project, None when it can't be read or parsed."""
        return self.scripts.at(path)

    def definition(self, script: Script, name: str) -> Definition | None:
        """Return the bindings of an imported name in the project file that defines it; no bindings: a module."""
        return self.imports.definition(script, name)

    def star(self, script: Script, module: str, name: str) -> bool:
        """Whether ``from module import *`` in a script binds ``name``."""
        return self.imports.star(script, module, name)

    def callers(self, function: Function) -> tuple[Sequence[Call], bool]:
        """Return the calls of a function that can be seen, and whether these are all."""
        return self._callers.of(function)

    def names(self, expression: Expression) -> frozenset[str]:
        """Return every dotted name that an expression can stand for (see Resolver.names)."""
        return self.resolver.names(expression)

    def origins(self, expression: Expression) -> tuple[Origin, ...]:
        """Return everything that can have made an expression's value (see Resolver.origins)."""
        return self.resolver.origins(expression)

    def calls(self, script: Script, *names: str) -> list[Call]:
        """Return a script's calls of what any of the documented names stands for, in source order.

        A callee that can also be something else counts: ask ``certainly`` where that matters.
        """
        if id(script) not in self._calls:
            index = self._calls[id(script)] = {}
            for call in script.calls:
                for name in self.names(call.callee):
                    index.setdefault(name, []).append(call)
        found = [call for name in names for call in self._calls[id(script)].get(name, ())]
        return sorted(dict.fromkeys(found), key=lambda call: call.order)

    def certainly(self, expression: Expression, *names: str) -> bool:
        """Whether an expression can't stand for anything but these documented names."""
        return self.names(expression) <= frozenset(names)

    def argument(self, call: Call, name: str) -> Expression | Missing:
        """Return what a call gives for a parameter, or why that can't be said (see semantics.arguments)."""
        return argument(self.resolver, call, name)

    def constants(self, expression: Expression) -> frozenset[object] | None:
        """Return every constant that an expression can be, None when it can be anything else."""
        origins = self.origins(expression)
        if not all(isinstance(origin, Constant) for origin in origins):
            return None
        return frozenset(origin.value for origin in origins if isinstance(origin, Constant))

    def guard(self, at: Expression) -> Expression | None:
        """Return what lets only some ranks come to an expression, None when nothing in sight does.

        A test around it, a decorator of its function, or a test around every call of its function.
        """
        return self._guard(at, frozenset())

    def _guard(self, at: Expression, seen: frozenset[int]) -> Expression | None:
        found = self.rank_tests.guard(at.region) or self.rank_tests.decorator(at.region)
        function = at.region.scope.function
        if found is not None or function is None or id(function) in seen:
            return found
        parent = function.scope.parent
        if parent is not None and parent.function is not None:
            outer = self.rank_tests.guard(function.region.parent) if function.region.parent is not None else None
            if outer is not None:
                return outer
        calls, _ = self.callers(function)
        guards = [self._guard(call, seen | {id(function)}) for call in calls]
        return guards[0] if guards and all(guard is not None for guard in guards) else None

    def program(self, path: Path) -> tuple[Path, ...]:
        """Return the files that run together with a file."""
        if path not in self._programs:
            self._programs[path] = self.files.program(path)
        return self._programs[path]

    def mentions(self, script: Script, words: Sequence[bytes]) -> bool:
        """Whether any of the words occurs in the files that run together with a script."""
        return any(word in self._content(script, path) for path in self._program_of(script) for word in words)

    def is_distributed(self, script: Script) -> bool:
        """Whether the program that a script belongs to trains with several processes."""
        return self.mentions(script, DISTRIBUTION_WORDS)

    def replaces_print(self, script: Script) -> bool:
        """Whether the program that a script belongs to puts its own function in the place of ``print``."""
        return any(_PRINT_REPLACED.search(self._content(script, path)) for path in self._program_of(script))

    def frameworks(self, script: Script) -> frozenset[str]:
        """Return the training frameworks that drive the program of a script."""
        found: frozenset[str] = frozenset()
        for path in self._program_of(script):
            found |= frameworks_in(self._content(script, path))
        return found

    def _program_of(self, script: Script) -> tuple[Path, ...]:
        path = self.scripts.path_of(script)
        return (Path(script.path),) if path is None else self.program(path)

    def _content(self, script: Script, path: Path) -> bytes:
        if path == (self.scripts.path_of(script) or Path(script.path)):
            return script.source.text.encode("utf-8", "surrogatepass")
        return self.files.content(path)
