"""A traced run, read back from its folder, and what rules ask of it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Mapping, Sequence

from ddplint.trace.events import Event, Process, Stretch, read_process
from ddplint.trace.kinds import Kind
from ddplint.trace.outcome import Ending, Outcome, read_outcome
from ddplint.trace.passes import LoaderPass, passes_of
from ddplint.trace.waiting import Wait, gave_up, waits

EVENTS = "events"


class Trace:
    """What the processes of a run did, and how it ended. Pure: it is built from events alone and changes nothing."""

    def __init__(self, processes: Sequence[Process], outcome: Outcome | None) -> None:
        self.all_processes = tuple(processes)  # also launchers, helpers and workers of data loaders
        self.outcome = outcome

    @classmethod
    def from_folder(cls, folder: Path, base: Path) -> Trace:
        """Read the run in a folder; paths below ``base`` are shown relative to it."""
        shown_from = str(base.resolve())
        read = (read_process(path, shown_from) for path in sorted((folder / EVENTS).glob("*.jsonl")))
        processes = sorted((process for process in read if process is not None), key=lambda process: process.started)
        return cls(processes, read_outcome(folder, shown_from))

    # Who was there

    @cached_property
    def processes(self) -> tuple[Process, ...]:
        """The processes that train: each rank's, or the one of a script without ranks, as rank 0."""
        training = [process for process in self.all_processes if process.role == "rank"]
        by_rank: dict[int, Process] = {}
        for process in training:
            # A script may start Python programs of its own, which inherit the rank: the one with the group is meant.
            if process.rank is not None and (process.rank not in by_rank or any(process.of(Kind.GROUP))):
                by_rank[process.rank] = process
        if by_rank:
            return tuple(by_rank[rank] for rank in sorted(by_rank))
        for process in training[:1]:
            process.rank, process.world_size = 0, 1
        return tuple(training[:1])

    @property
    def workers(self) -> tuple[Process, ...]:
        """The workers of data loaders; each has the rank of its parent."""
        return tuple(process for process in self.all_processes if process.role == "worker")

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that were seen."""
        return tuple(sorted({process.rank for process in self.processes if process.rank is not None}))

    @property
    def world_size(self) -> int:
        """How many ranks there were to be, 1 without a process group."""
        return max((process.world_size or 1 for process in self.processes), default=0)

    @property
    def has_group(self) -> bool:
        """Whether a process group was started."""
        return bool(self.of(Kind.GROUP))

    # What happened

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of all ranks by time."""
        return tuple(sorted((event for process in self.processes for event in process.events), key=_by_time))

    def of(self, *kinds: Kind) -> list[Event]:
        """Return the events of some kinds by time."""
        return [event for event in self.events if event.kind in kinds]

    def at(self, stretch: Stretch, *kinds: Kind) -> list[Event]:
        """Return the events of some kinds whose innermost user line lies in a stretch of a file."""
        return [event for event in self.of(*kinds) if event.is_at(stretch)]

    def below(self, stretch: Stretch, *kinds: Kind) -> list[Event]:
        """Return the events of some kinds that came from a stretch of a file, or from what was called there."""
        return [event for event in self.of(*kinds) if event.is_below(stretch)]

    def reached(self, stretch: Stretch) -> Mapping[int, int]:
        """Return how often each rank came to a stretch of a file at least, 0 for a rank that never did.

        Only lines that the run was told to watch, and lines with events of their own, are known.
        """
        counts = dict.fromkeys(self.ranks, 0)
        for event in self.events:
            if event.is_below(stretch) and event.rank is not None:
                counts[event.rank] = max(counts[event.rank], event["count"] if event.kind is Kind.LINE else 1)
        return counts

    @property
    def hooks_failed(self) -> list[Event]:
        """The hooks that failed, so that evidence may be missing."""
        return self.of(Kind.HOOK_FAILED)

    # How it ended

    @cached_property
    def first_stop(self) -> float:
        """When the first rank stopped because enough was seen, infinite when none did."""
        return min((event.time for event in self.of(Kind.STOP)), default=float("inf"))

    @cached_property
    def failures(self) -> tuple[Event, ...]:
        """The errors that ended processes by themselves, by time; what came after the first stop does not count."""
        errors = [event for process in self.all_processes for event in process.of(Kind.ERROR)]
        return tuple(sorted((error for error in errors if error.time <= self.first_stop), key=_by_time))

    @property
    def ended_well(self) -> bool:
        """Whether the run came to its end, or was stopped because enough was seen, without an error."""
        if self.outcome is None or self.outcome.ending is Ending.FINISHED:
            return self.outcome is not None
        if self.outcome.ending not in (Ending.FAILED, Ending.HANG) or self.failures:
            return False
        if any(self.of(Kind.STOP)):
            return True  # what happens to the others after the first stop is our doing
        if self.outcome.ending is Ending.HANG:
            return False
        ended = all(any(process.of(Kind.EXIT, Kind.STOP)) for process in self.processes)
        known = any(self.outcome.codes.get(rank) for rank in self.ranks)
        return ended and known and not any(gave_up(process, self.outcome) for process in self.processes)

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """Where each rank was when the run hung, or when a rank failed because another one had gone; else empty."""
        return waits(self.processes, self.outcome, self.first_stop)

    def waits_below(self, stretch: Stretch) -> bool:
        """Whether the run stood still with a rank that waits in a stretch of a file, or in what is called there."""
        return any(frame.is_in(stretch) for wait in self.waits for frame in wait.stack if wait.operation is not None)

    # Data

    @cached_property
    def passes(self) -> tuple[LoaderPass, ...]:
        """The passes over data loaders that ended, of all ranks."""
        return tuple(one for process in self.processes for one in passes_of(process))

    def passes_of_loader(self, stretch: Stretch) -> list[LoaderPass]:
        """Return the passes over the loaders that were made in a stretch of a file."""
        return [one for one in self.passes if one.loader is not None and one.loader.is_below(stretch)]

    def orders(self, stretch: Stretch) -> Mapping[int, list[Event]]:
        """Return, by rank, the passes over the samplers that were made in a stretch of a file, in order.

        The events have ``digest``, ``first`` and ``count``: they are of the whole order for a DistributedSampler
        (SAMPLER_PASS), and of what was drawn for other samplers (PASS_END).
        """
        orders: dict[int, list[Event]] = {rank: [] for rank in self.ranks}
        for process in self.processes:
            made = {event["sampler"] for event in process.of(Kind.SAMPLER) if event.is_below(stretch)}
            fed = {
                event["loader"]
                for event in process.of(Kind.LOADER)
                if event["sampler"] in made or event["batch_sampler"] in made
            }
            whole = [event for event in process.of(Kind.SAMPLER_PASS) if event["sampler"] in made]
            drawn = [event for event in process.of(Kind.PASS_END) if event["loader"] in fed and event["count"]]
            orders[process.rank or 0] += whole or drawn
        return orders

    # Collectives and parameters

    def meeting(self, entered: Event) -> Mapping[int, Event | None]:
        """Return what each rank met in a collective of the default group, by the group's own count.

        None for a rank that did not come that far, or that had a collective of DistributedDataParallel's there. Empty
        when the count is not known, or the collective is among some ranks only.
        """
        if entered["sequence"] is None or entered["ranks"] is not None:
            return {}
        met: dict[int, Event | None] = dict.fromkeys(self.ranks)
        for event in self.of(Kind.COLLECTIVE):
            if event.rank is not None and event["ranks"] is None and event["sequence"] == entered["sequence"]:
                met[event.rank] = event
        return met

    def steps(self, rank: int) -> list[Event]:
        """Return the optimizer steps of a rank, in order."""
        return [event for event in self.of(Kind.STEP) if event.rank == rank]

    @cached_property
    def divergence(self) -> tuple[Event, ...] | None:
        """The first optimizer step, one event a rank, after which the parameters of the ranks were not all equal.

        None when they always were, or ranks can't be compared.
        """
        for together in self.steps_together():
            if len({event["checksum"] for event in together}) > 1:
                return together
        return None

    def steps_together(self) -> list[tuple[Event, ...]]:
        """Return the optimizer steps that all ranks made, with one event of each rank, in order."""
        by_rank = [self.steps(rank) for rank in self.ranks]
        return list(zip(*by_rank)) if len(by_rank) > 1 else []


def _by_time(event: Event) -> float:
    return event.time
