"""How batch size and learning rate follow the number of processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Operation, Script
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.structure import Binding

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Names under which scripts keep the number of processes or a batch over all of them.
_WORLD = re.compile(
    r"world|nprocs|n_?proc(?:s|esses)?$|num_?(?:gpu|proc|rank|replica|node|device|worker_gpu)|n_?gpus?|gpus?_?(?:num|count)"
    r"|ngpu|device_count|global|total_batch|eff\w*_batch|effective|whole_batch|replicas|^size$|gpus$"
)
_RATE = re.compile(r"(?:^|_)(?:b|base_?|max_?|init\w*_?)?(?:lr|learning_?rate)(?:$|_)|lr$")
_BATCH = re.compile(r"batch|(?:^|_)bs(?:$|_)|accum")
_PER_PROCESS = re.compile(
    r"per[ _-]*(?:gpu|device|process|rank|worker|node|card)|each[ _](?:gpu|process)|local[ _]batch"
)
_OVER_ALL = re.compile(r"total|global|over all|all (?:gpu|process|rank|device)|across|effective|whole")
# Files of a program that are searched for arithmetic of this kind.
SEARCHED = 40
# Expressions that one value is followed through.
FOLLOWED = 200


class Scaling:
    """Answers whether anything in a program follows the number of processes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._scaled: dict[int, bool] = {}

    def follows_world(self, value: Expression) -> bool:
        """Whether the number of processes, or a batch over all of them, has a part in a value."""
        return any(self.is_world(part) for part in self._parts(value))

    def is_scaled_somewhere(self, script: Script) -> bool:
        """Whether some file of a script's program combines a learning rate or a batch with the number of processes."""
        if id(script) not in self._scaled:
            self._scaled[id(script)] = any(self._scales(other) for other in self._scripts(script))
        return self._scaled[id(script)]

    def constant(self, value: Expression) -> object | None:
        """Return the one constant that a value is unless the user says otherwise, None where that can't be told."""
        origins = self._project.origins(value)
        if len(origins) != 1:
            return None
        (origin,) = origins
        if isinstance(origin, Constant):
            return origin.value
        option = self._project.options.of(origin) if isinstance(origin, Attribute) else None
        return option.default.value if option is not None and isinstance(option.default, Constant) else None

    def says_what_it_counts(self, value: Expression) -> bool:
        """Whether the name or the help of an option says that it counts per process, or over all of them."""
        parts = [part for part in (value, *self._project.origins(value)) if isinstance(part, Name | Attribute)]
        texts = [part.id if isinstance(part, Name) else part.name for part in parts]
        options = [self._project.options.of(part) for part in parts]
        texts += [option.help for option in options if option is not None]
        return any(_PER_PROCESS.search(text.lower()) or _OVER_ALL.search(text.lower()) for text in texts)

    def world_size(self, at: Expression) -> str | None:
        """Return a name that certainly holds the number of processes at an expression, None when there is none."""
        for name, bindings in at.region.scope.bindings.items():
            if len(bindings) == 1 and self._holds_world(bindings[0], at):
                return name
        return None

    def _holds_world(self, binding: Binding, at: Expression) -> bool:
        if binding.order > at.order or not at.region.within(binding.region) or binding.value is None or binding.path:
            return False
        return self._project.rank_values.kinds(binding.value) == {RankValue.WORLD_SIZE}

    def is_world(self, part: Expression) -> bool:
        """Whether an expression itself is, or is called like, the number of processes or a batch over all of them."""
        identifier = part.id if isinstance(part, Name) else part.name if isinstance(part, Attribute) else ""
        if identifier and _WORLD.search(identifier.lower()):
            return True
        if isinstance(part, Constant) and isinstance(part.value, str):
            return "WORLD" in part.value or "NTASKS" in part.value
        if not isinstance(part, Call):
            return False
        return not self._project.rank_values.kinds(part).isdisjoint({RankValue.WORLD_SIZE, RankValue.GPUS})

    def _parts(self, value: Expression) -> Iterator[Expression]:
        seen: set[int] = set()
        pending = [value]
        while pending and len(seen) < FOLLOWED:
            part = pending.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            pending.extend(part.children)
            pending.extend(origin for origin in self._project.origins(part) if isinstance(origin, Expression))

    def _scales(self, script: Script) -> bool:
        """Whether a file multiplies or divides a rate or a batch by the world, or gives one a value made from it."""
        return any(self._combines(operation) for operation in _operations(script)) or any(
            _is_about_size(name) and any(self.is_world(part) for part in value.walk())
            for name, value in _named_values(script)
        )

    def _combines(self, operation: Operation) -> bool:
        identifiers = [_identifiers(operand) for operand in operation.operands]
        about = [any(map(_is_about_size, words)) for words in identifiers]
        world = [any(self.is_world(part) for part in operand.walk()) for operand in operation.operands]
        return len(about) == 2 and ((about[0] and world[1]) or (world[0] and about[1]))

    def _scripts(self, script: Script) -> Iterator[Script]:
        yield script
        paths = [path for path in self._project.program_of(script) if path != self._project.scripts.path_of(script)]
        for path in paths[:SEARCHED]:
            other = self._project.script(path)
            if other is not None:
                yield other


def _is_about_size(word: str) -> bool:
    return bool(_RATE.search(word) or _BATCH.search(word))


def _named_values(script: Script) -> Iterator[tuple[str, Expression]]:
    """Yield what is given a name: assigned, put into an attribute, handed to a parameter by keyword."""
    for scope in script.scopes:
        for name, bindings in scope.bindings.items():
            yield from ((name.lower(), binding.value) for binding in bindings if binding.value is not None)
    for store in script.stores:
        if store.name is not None and store.value is not None:
            yield store.name.lower(), store.value
    for call in script.calls:
        yield from ((given.keyword.lower(), given.value) for given in call.arguments if given.keyword is not None)


def _operations(script: Script) -> Iterator[Operation]:
    return (operation for operation in script.operations if operation.operator in ("*", "/", "//"))


def _identifiers(expression: Expression) -> list[str]:
    found = []
    for part in expression.walk():
        if isinstance(part, Name):
            found.append(part.id.lower())
        elif isinstance(part, Attribute):
            found.append(part.name.lower())
        elif isinstance(part, Constant) and isinstance(part.value, str):
            found.append(part.value.lower())
    return found
