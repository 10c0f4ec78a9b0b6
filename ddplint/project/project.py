"""Many files: the scripts of one root, linked, and the questions that need more than one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ddplint.errors import SourceError
from ddplint.project.files import ProjectFiles
from ddplint.project.frameworks import frameworks_in
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.names import Definition
from ddplint.semantics.ranks import RankTests
from ddplint.semantics.resolve import Origin, Resolver
from ddplint.semantics.structure import BindingKind, Function
from ddplint.source.limits import refusal
from ddplint.source.text import SourceFile, shown_path

# More files than this that mention a function's name: its callers are not looked for.
SEARCHED_FOR_CALLERS = 60
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
        self.resolver = Resolver(self)
        self.rank_tests = RankTests(self.resolver)
        self._scripts: dict[Path, Script | None] = {}
        self._programs: dict[Path, tuple[Path, ...]] = {}
        self._callers: dict[int, tuple[Sequence[Call], bool]] = {}
        self._calls: dict[int, dict[str, list[Call]]] = {}
        self._paths: dict[int, Path] = {}

    # Scripts.

    def add(self, script: Script, path: Path) -> None:
        """Take in a script that was parsed elsewhere, so that its file is not parsed again."""
        self._scripts[path] = script
        self._paths[id(script)] = path

    def script(self, path: Path) -> Script | None:
        """Return the script of a file of the project, None when it can't be read or parsed."""
        if path not in self._scripts:
            self._scripts[path] = self._parsed(path)
            if (script := self._scripts[path]) is not None:
                self._paths[id(script)] = path
        return self._scripts[path]

    def _parsed(self, path: Path) -> Script | None:
        from ddplint.semantics.parse import parse  # imports libcst, which no other path through here needs

        data = self.files.content(path)
        if not data or refusal(data) is not None:
            return None
        try:
            return parse(SourceFile.from_bytes(data, shown_path(path, Path(os.getcwd()))))
        except SourceError:
            return None

    # What the resolver asks of a linker.

    def definition(self, script: Script, name: str) -> Definition | None:
        """Return the bindings of an imported name in the project file that defines it; no bindings: a module."""
        importer = self._paths.get(id(script))
        if importer is None:
            return None
        dots = len(name) - len(name.lstrip("."))
        parts = name[dots:].split(".")
        for split in range(len(parts), -1 if dots else 0, -1):
            path = self.files.module(name[:dots] + ".".join(parts[:split]), importer)
            found = None if path is None or path == importer else self.script(path)
            if found is None:
                continue
            if split == len(parts):
                return (found, ())
            return self._member(found, parts[split:])
        return None

    def _member(self, script: Script, parts: Sequence[str]) -> Definition | None:
        if len(parts) != 1:
            return None
        bindings = script.scope.bindings.get(parts[0])
        if bindings:
            return (script, [binding for binding in bindings if binding.kind is not BindingKind.DELETE])
        for star in script.scope.stars:
            definition = self.definition(script, f"{star}.{parts[0]}")
            if definition is not None:
                return definition
        return None

    def star(self, script: Script, module: str, name: str) -> bool:
        """Whether ``from module import *`` in a script binds ``name``; of modules outside the project: it may."""
        importer = self._paths.get(id(script))
        if importer is None or self.files.module(module, importer) is None:
            return module.partition(".")[0] in ("torch", "torchvision")
        return self.definition(script, f"{module}.{name}") is not None

    def callers(self, function: Function) -> tuple[Sequence[Call], bool]:
        """Return the calls of a function that can be seen, and whether these are all."""
        if id(function) not in self._callers:
            self._callers[id(function)] = ((), False)  # what a recursive question gets
            self._callers[id(function)] = self._find_callers(function)
        return self._callers[id(function)]

    def _find_callers(self, function: Function) -> tuple[Sequence[Call], bool]:
        called = function.cls.name if function.cls is not None and function.name == "__init__" else function.name
        scripts, complete = self._mentioning(called, function.script)
        calls: list[Call] = []
        for script in scripts:
            callees = set()
            for call in script.calls:
                if _last_name(call.callee) != called:
                    continue
                callees.add(id(call.callee))
                target = self.resolver.function_of(call)
                if target is function:
                    calls.append(call)
                complete &= target is not None or self._is_foreign(call)
            complete &= not any(name.id == called and id(name) not in callees for name in script.names)
        return calls, complete

    def _is_foreign(self, call: Call) -> bool:
        """Whether a call certainly runs nothing of the project."""
        names = self.resolver.names(call.callee)
        return all(name[0] not in "?<" for name in names)

    def _mentioning(self, word: str, own: Script) -> tuple[list[Script], bool]:
        paths = [path for path in self.files.holding(word) if path != self._paths.get(id(own))]
        complete = self.files.complete and len(paths) <= SEARCHED_FOR_CALLERS
        scripts = [self.script(path) for path in paths] if complete else []
        complete &= None not in scripts
        return [own, *(script for script in scripts if script is not None)], complete

    # Questions.

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
        path = self._paths.get(id(script))
        return (Path(script.path),) if path is None else self.program(path)

    def _content(self, script: Script, path: Path) -> bytes:
        if path == self._paths.get(id(script), Path(script.path)):
            return script.source.text.encode("utf-8", "surrogatepass")
        return self.files.content(path)


def _last_name(expression: Expression) -> str:
    if isinstance(expression, Name):
        return expression.id
    return expression.name if isinstance(expression, Attribute) else ""
