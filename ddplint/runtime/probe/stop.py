"""Enough is seen: a rank stops where it begins one epoch more than asked for, after all others came as far."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from typing import Any, Callable

from ddplint.runtime.probe.plan import PARKED
from ddplint.runtime.probe.recorder import Recorder
from ddplint.trace.kinds import Kind

_PAUSE = 0.02  # seconds


class Stopper:
    """Counts training passes and optimizer steps, and ends the process in time.

    A pass without optimizer steps evaluates and does not count. A training loop without passes over data loaders that
    end is stopped by its steps. ``flush`` writes what was only counted so far.
    """

    def __init__(self, recorder: Recorder, flush: Callable[[], None]) -> None:
        self._recorder = recorder
        self._flush = flush
        self._trained: dict[Any, int] = {}
        self._uncounted = 0
        self.steps = 0

    def begins(self, loader: Any) -> None:
        """A pass over a loader begins; does not return when enough of them have trained."""
        if self._trained.get(loader, 0) >= self._recorder.plan.epochs:
            self.stop(f"{self._recorder.plan.epochs} epochs were seen")

    def ended(self, loader: Any, steps: int) -> None:
        """A pass over a loader, with some optimizer steps in it, has ended."""
        self._uncounted = 0
        if steps:
            self._trained[loader] = self._trained.get(loader, 0) + 1

    def stepped(self, _number: int) -> None:
        """An optimizer made a step; does not return after many of them without the end of a pass."""
        self.steps += 1
        self._uncounted += 1
        plan = self._recorder.plan
        # Several optimizers may step in turn, and one step may take several batches: this is a bound, no count.
        if self._uncounted >= 4 * plan.steps * plan.epochs:
            self.stop(f"{self._uncounted} optimizer steps were seen without the end of a pass over a data loader")

    def stop(self, reason: str) -> None:
        """Wait until every rank has come to its stop, then end this process."""
        recorder = self._recorder
        self._flush()
        recorder.write(Kind.STOP, reason=reason)
        recorder.parked = True
        folder = os.path.join(recorder.folder, PARKED)
        name = str(os.getpid() if recorder.rank is None else recorder.rank)
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
        # Sockets stay open meanwhile: a rank that left early would look like a crash to the others.
        end = time.monotonic() + recorder.plan.patience
        while time.monotonic() < end and len(os.listdir(folder)) < (recorder.world_size or 1):
            time.sleep(_PAUSE)
        time.sleep(_PAUSE * 2)
        sys.stdout.flush()
        sys.stderr.flush()
        for child in multiprocessing.active_children():
            child.kill()
        os._exit(0)  # no finally, no exit handler: what they would do is not the training's
