"""Passes of the processes over their data loaders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

from ddplint.trace.events import Event, Process
from ddplint.trace.kinds import Kind


@dataclass(frozen=True)
class LoaderPass:
    """One loop of a process over a data loader, which ended.

    ``loader`` is the event of its construction, None where that was not seen. ``number`` counts the passes of this
    loader from 0. ``steps`` counts optimizer steps in the meantime. ``first`` holds up to 64 indices into the dataset,
    None for an iterable dataset; ``count`` and ``digest`` are of all that were drawn. ``cut``: the traced run ended it.
    """

    process: Process
    begun: Event
    loader: Event | None
    number: int
    batches: int
    steps: int
    cut: bool
    count: int | None
    first: tuple[int, ...] | None
    digest: str | None

    @property
    def rank(self) -> int | None:
        return self.process.rank


def passes_of(process: Process) -> Iterator[LoaderPass]:
    """Yield the passes of a process that ended, in the order of their ends."""
    loaders: dict[Any, Event] = {}
    begun: dict[Any, Event] = {}
    for event in process.of(Kind.LOADER, Kind.PASS, Kind.PASS_END):
        if event.kind is Kind.LOADER:
            loaders[event["loader"]] = event
        elif event.kind is Kind.PASS:
            begun[event["loader"], event["number"]] = event
        elif (event["loader"], event["number"]) in begun:
            first = event["first"]
            yield LoaderPass(
                process,
                begun[event["loader"], event["number"]],
                loaders.get(event["loader"]),
                event["number"],
                event["batches"],
                event["steps"],
                event["cut"],
                event["count"],
                None if first is None else tuple(first),
                event["digest"],
            )
