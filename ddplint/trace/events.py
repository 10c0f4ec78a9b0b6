"""Events of a traced run as values, and the file of one process read back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, Protocol

from ddplint.trace.kinds import Kind


class _Line(Protocol):
    @property
    def line(self) -> int: ...


class Stretch(Protocol):
    """A stretch of a file, such as the place of a finding."""

    @property
    def path(self) -> str: ...
    @property
    def start(self) -> _Line: ...
    @property
    def end(self) -> _Line: ...


@dataclass(frozen=True)
class Frame:
    """A line of the user's code that was being run."""

    path: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def is_in(self, stretch: Stretch) -> bool:
        """Whether the line lies in a stretch of a file."""
        return self.path == stretch.path and stretch.start.line <= self.line <= stretch.end.line


@dataclass(frozen=True)
class Event:
    """One thing that a process did. ``fields`` depend on the kind, see ``kinds.py``; ``event["name"]`` reads one."""

    process: Process
    number: int
    time: float
    kind: Kind
    stack: tuple[Frame, ...]
    fields: Mapping[str, Any]

    @property
    def rank(self) -> int | None:
        return self.process.rank

    @property
    def at(self) -> Frame | None:
        """The innermost line of the user's code."""
        return self.stack[0] if self.stack else None

    def __getitem__(self, name: str) -> Any:
        return self.fields.get(name)

    def is_at(self, stretch: Stretch) -> bool:
        """Whether the user's innermost line lies in a stretch of a file."""
        return bool(self.stack) and self.stack[0].is_in(stretch)

    def is_below(self, stretch: Stretch) -> bool:
        """Whether the event came from a stretch of a file, or from what was called there."""
        return any(frame.is_in(stretch) for frame in self.stack)


@dataclass(eq=False)
class Process:
    """A Python process of the run, and what it did until it stopped, in order."""

    pid: int
    parent: int
    started: float
    role: str
    rank: int | None
    local_rank: int | None
    world_size: int | None
    argv: tuple[str, ...]
    python: str
    events: tuple[Event, ...] = field(default=(), repr=False)

    def of(self, *kinds: Kind) -> Iterator[Event]:
        """Yield the events of some kinds."""
        return (event for event in self.events if event.kind in kinds)


def read_process(path: Path, base: str) -> Process | None:
    """Read the file of a process, None when it holds not even a header.

    Paths below ``base`` are made relative to it, as reports show them. A last line that was cut off, because the
    process was killed, is left out.
    """
    lines = path.read_bytes().split(b"\n")
    records = [record for record in map(_record, lines) if record is not None]
    if not records or "pid" not in records[0]:
        return None
    head = records[0]
    process = Process(
        pid=head["pid"],
        parent=head["parent"],
        started=head["started"],
        role=head["role"],
        rank=head["rank"],
        local_rank=head["local_rank"],
        world_size=head["world_size"],
        argv=tuple(head["argv"]),
        python=head["python"],
    )
    known = {kind.value for kind in Kind}
    events: list[Event] = []
    for record in records[1:]:
        if record.get("kind") not in known:
            continue
        event = _event(process, len(events), record, base)
        events.append(event)
        if event.kind is Kind.ROLE:
            process.role = event["role"]
        elif event.kind is Kind.GROUP:
            process.rank, process.world_size = event["rank"], event["world_size"]
        elif event.kind is Kind.STOP:
            break
    process.events = tuple(events)
    return process


def shown(path: str, base: str) -> str:
    """Return an absolute path as reports show it: relative to ``base`` where it lies below."""
    return path[len(base) + 1 :] if path.startswith(base.rstrip("/") + "/") else path


def _record(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _event(process: Process, number: int, record: Mapping[str, Any], base: str) -> Event:
    frames = record.get("stack") or ([[*record["at"], ""]] if record.get("at") else [])
    stack = tuple(Frame(shown(path, base), line, function) for path, line, function in frames)
    fields = {name: value for name, value in record.items() if name not in ("t", "kind", "at", "stack")}
    if isinstance(fields.get("path"), str):
        fields["path"] = shown(fields["path"], base)
    return Event(process, number, record["t"], Kind(record["kind"]), stack, fields)
