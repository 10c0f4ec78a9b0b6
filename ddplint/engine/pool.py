"""Isolated worker processes: one that dies or hangs costs the one task that it was working on."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Generic, TypeVar

from ddplint.engine.agenda import Agenda

Task = TypeVar("Task")
Answer = TypeVar("Answer")

# Windows waits for at most 63 handles at once.
MOST_WORKERS = 60


@dataclass(frozen=True, slots=True)
class Lost:
    """The answer that never came, with the reason."""

    reason: str


def answers(
    start: Callable[[], Callable[[Task], Answer]], tasks: Sequence[Task], jobs: int, limit: float
) -> Generator[tuple[Task, Answer | Lost], None, None]:
    """Answer every task in worker processes and yield each with its answer, as they come.

    A worker calls ``start`` once and what that returns for every task; all three must be picklable. A worker that
    dies, or gives no answer for ``limit`` seconds, loses its task and is replaced. Closing the iterator, also by an
    exception, ends all workers.
    """
    most = min(max(jobs, 1), MOST_WORKERS, max(len(tasks), 1))
    agenda = Agenda(tasks, most)
    workers: dict[int, _Worker[Task, Answer]] = {}
    try:
        while agenda or workers:
            for number in range(most):
                if agenda and number not in workers:
                    workers[number] = _Worker(start, agenda.next_for(number), limit)
            done = _done(list(workers.values()))
            for number, worker in [(number, worker) for number, worker in workers.items() if worker in done]:
                task, answer = worker.task, worker.answer()
                if isinstance(answer, Lost) or not agenda:
                    del workers[number]
                    worker.end()
                else:
                    worker.give(agenda.next_for(number))
                yield task, answer
    finally:
        for worker in workers.values():
            worker.end()


class _Worker(Generic[Task, Answer]):
    """One process and the task that it is working on."""

    def __init__(self, start: Callable[[], Callable[[Task], Answer]], task: Task, limit: float) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._limit = limit
        self._process: SpawnProcess = context.Process(target=_serve, args=(theirs, start), daemon=True)
        with _interrupts_held_back():
            self._process.start()
        # Only when the worker holds the sole copy does its death close the pipe.
        theirs.close()
        self.give(task)

    def give(self, task: Task) -> None:
        self.task = task
        self.deadline = time.monotonic() + self._limit
        with suppress(OSError):  # it is dead already, and answer() will say of what
            self.connection.send(task)

    def answer(self) -> Answer | Lost:
        """Return the answer, which is there or will never come."""
        try:
            if not self.connection.poll():
                return Lost(f"no answer within {self._limit:g} seconds")
            answer: Answer = self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            return Lost(_cause_of_death(self._process.exitcode))
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, not even while they begin; this one gets it a moment later."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # starting it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _done(workers: list[_Worker[Task, Answer]]) -> list[_Worker[Task, Answer]]:
    """Wait for the first workers that answered, died or ran out of time."""
    soonest = min(worker.deadline for worker in workers)
    ready = wait([worker.connection for worker in workers], max(soonest - time.monotonic(), 0))
    now = time.monotonic()
    return [worker for worker in workers if worker.connection in ready or worker.deadline <= now]


def _cause_of_death(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name if -exit_code in signal.valid_signals() else f"signal {-exit_code}"
        return f"its worker was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"its worker ended with exit status {exit_code}"


def _serve(connection: Connection, start: Callable[[], Callable[[Task], Answer]]) -> None:
    """What a worker does: answer tasks until nobody asks any more."""
    # Ctrl-C reaches every process of the terminal, but the parent ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The dying words of a crashed parser would mix with the report; the parent says what happened.
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.__stderr__.fileno() if sys.__stderr__ else 2)
    answer = start()
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(answer(task))
