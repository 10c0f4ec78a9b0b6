"""States of models that are saved in one place and loaded in another, and what is wrapped around the model in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.project.file_names import file_names
from ddplint.project.frames import Frame
from ddplint.project.models import Wrapper
from ddplint.semantics import Attribute, Call, Constant, Expression, Mapping, Script, Subscript
from ddplint.semantics.attempts import caught

if TYPE_CHECKING:
    from ddplint.project.project import Project

_SAVE, _LOAD = "torch.save", "torch.load"
_GIVES, _TAKES = "state_dict", "load_state_dict"
_WRAPPERS = frozenset({Wrapper.DDP, Wrapper.DATA_PARALLEL})
# A program that has one of these takes the prefix of the wrapper off, or puts it on, somewhere.
_KNOWS_PREFIX = re.compile(
    rb"""['"]\.?module\.?['"]|['"]module\.|consume_prefix_in_state_dict|\[7:\]|len\(prefix\)|unwrap_model|de_parallel"""
)
# What a checkpoint is called in that another program wrote.
_FOREIGN = re.compile(r"pre_?train|backbone|teacher|finetune|imagenet", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Moved:
    """A state on its way to or from a file: ``call`` is that of the model's method, ``frame`` how it is run.

    ``key``: under which it stands in the checkpoint, None where it is the whole of it. ``names``: of the file.
    """

    call: Call
    model: Expression
    frame: Frame | None
    key: str | None
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A state that carries the wrapper's prefix on one side only.

    ``wrapped`` is the wrapped model, in a call of ``state_dict`` or ``load_state_dict`` (``at``); ``other`` is the call
    on the bare model.
    """

    at: Call
    wrapped: Expression
    wrapper: Wrapper
    other: Call


class StoredStates:
    """Answers for the scripts of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._saved: dict[int, tuple[_Moved, ...]] = {}
        self._loaded: dict[int, tuple[_Moved, ...]] = {}

    def mismatches(self, script: Script) -> Iterator[Mismatch]:
        """Yield the states that a script saves or loads with a wrapper, and its program loads or saves without."""
        if any(_KNOWS_PREFIX.search(content) for content in self._project.contents(script)):
            return
        saved = self._saves(script)
        loaded = self._loads(script)
        if saved:
            others = [load for other in self._scripts(script, _TAKES) for load in self._loads(other)]
            yield from self._between(saved, others)
        if loaded:
            others = [save for other in self._scripts(script, _GIVES) for save in self._saves(other)]
            yield from self._between(loaded, others)

    def _between(self, here: Sequence[_Moved], there: Sequence[_Moved]) -> Iterator[Mismatch]:
        told: set[int] = set()
        for moved in here:
            wrapper = self._wrapper(moved)
            if wrapper is None or id(moved.call) in told:
                continue
            other = next((other for other in there if _is_one(moved, other) and self._is_bare(other, moved)), None)
            if other is not None:
                told.add(id(moved.call))
                yield Mismatch(moved.call, moved.model, wrapper, other.call)

    def _wrapper(self, moved: _Moved) -> Wrapper | None:
        """Return what is around a model on every run that comes to a call, None where that is not certain."""
        wrappers = self._project.models.wrappers(moved.model, moved.frame)
        return next(iter(wrappers)) if len(wrappers) == 1 and wrappers <= _WRAPPERS else None

    def _is_bare(self, moved: _Moved, wrapped: _Moved) -> bool:
        """Whether nothing is around a model, as such or because it is the one that is wrapped later."""
        wrappers = self._project.models.wrappers(moved.model, moved.frame)
        if wrappers == {Wrapper.BARE}:
            return True
        return wrappers == {Wrapper.UNKNOWN} and self._project.models.is_inside(
            moved.model, wrapped.model, moved.frame, wrapped.frame
        )

    def _scripts(self, script: Script, word: str) -> Iterator[Script]:
        own = self._project.scripts.path_of(script)
        for path in self._project.program_of(script):
            found = script if path in (own, Path(script.path)) else self._other(path, word)
            if found is not None:
                yield found

    def _other(self, path: Path, word: str) -> Script | None:
        return self._project.script(path) if word.encode() in self._project.files.content(path) else None

    def _saves(self, script: Script) -> tuple[_Moved, ...]:
        if id(script) not in self._saved:
            self._saved[id(script)] = tuple(self._find_saves(script))
        return self._saved[id(script)]

    def _loads(self, script: Script) -> tuple[_Moved, ...]:
        if id(script) not in self._loaded:
            self._loaded[id(script)] = tuple(self._find_loads(script))
        return self._loaded[id(script)]

    def _find_saves(self, script: Script) -> Iterator[_Moved]:
        """Yield the states that a script's own calls of ``state_dict`` give to ``torch.save``, here or in a helper."""
        for path in self._project.program_of(script):
            other = script if path == self._project.scripts.path_of(script) else self._other(path, _SAVE[6:])
            for save in () if other is None else self._project.calls(other, _SAVE):
                for frame in self._ways(save):
                    found = self._in_save(save, frame)
                    yield from (moved for moved in found if moved.call.scope.script is script)

    def _in_save(self, save: Call, frame: Frame | None) -> Iterator[_Moved]:
        content, path = self._project.argument(save, "obj"), self._project.argument(save, "f")
        if not isinstance(content, Expression) or not isinstance(path, Expression):
            return
        names = file_names(self._project, path, frame)
        for source, inside in self._project.frames.sources(content, frame):
            if isinstance(source, Mapping):
                for key, value in source.items:
                    text = _text(key)
                    for state, within in self._project.frames.sources(value, inside) if text else ():
                        yield from self._given(state, within, text, names)
            else:
                yield from self._given(source, inside, None, names)

    def _given(self, state: object, frame: Frame | None, key: str | None, names: frozenset[str]) -> Iterator[_Moved]:
        if isinstance(state, Call) and not state.arguments:
            callee = state.callee
            if isinstance(callee, Attribute) and callee.name == _GIVES:
                yield _Moved(state, callee.base, frame, key, names)

    def _find_loads(self, script: Script) -> Iterator[_Moved]:
        for call in script.calls:
            callee = call.callee
            plain = len(call.arguments) == 1 and not call.arguments[0].star  # a second one is ``strict``
            if not plain or not isinstance(callee, Attribute) or callee.name != _TAKES or caught(call.region):
                continue
            for frame in self._ways(call):
                yield from self._in_load(call, callee.base, frame)

    def _in_load(self, call: Call, model: Expression, frame: Frame | None) -> Iterator[_Moved]:
        for state, inside in self._project.frames.sources(call.arguments[0].value, frame):
            whole, key = _opened(state)
            if whole is None:
                continue
            for load, within in self._project.frames.sources(whole, inside):
                if not isinstance(load, Call) or not self._project.certainly(load.callee, _LOAD):
                    continue
                path = self._project.argument(load, "f")
                if not isinstance(path, Expression):
                    continue
                names = file_names(self._project, path, within)
                yield _Moved(call, model, frame, key, names)

    def _ways(self, call: Call) -> Iterable[Frame | None]:
        """Return how the function around a call is run: by each of its callers where there are any."""
        ways = tuple(self._project.frames.ways(call.scope.function))
        return ways[1:] or ways


def _is_one(moved: _Moved, other: _Moved) -> bool:
    """Whether two states stand at one place of one file."""
    names = moved.names & other.names
    return moved.key == other.key and bool(names) and not any(map(_FOREIGN.search, names))


def _opened(state: object) -> tuple[Expression | None, str | None]:
    """Return the checkpoint of which a state is one item, or all of it, and the key of the item."""
    if isinstance(state, Subscript):
        key = _text(state.index)
        return (state.base if key else None), key
    if isinstance(state, Call):
        callee = state.callee
        if isinstance(callee, Attribute) and callee.name in ("get", "pop"):
            key = _text(state.arguments[0].value) if state.arguments else None
            return (callee.base if key else None), key
        return state, None
    return None, None


def _text(key: Expression | None) -> str | None:
    return key.value if isinstance(key, Constant) and isinstance(key.value, str) else None
