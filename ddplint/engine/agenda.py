"""Who does what next: neighbours stay together, and nobody is idle while there is work."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Generic, TypeVar

Task = TypeVar("Task")


class Agenda(Generic[Task]):
    """Tasks in order, cut into one run for each worker.

    Files that stand side by side belong to one project: whoever lints one of them knows its neighbours already. A
    worker whose run is done takes the later half of the longest that is left.
    """

    def __init__(self, tasks: Sequence[Task], workers: int) -> None:
        size, longer = divmod(len(tasks), workers)
        cuts = [number * size + min(number, longer) for number in range(workers + 1)]
        self._runs = [deque(tasks[start:end]) for start, end in pairwise(cuts)]

    def __bool__(self) -> bool:
        return any(self._runs)

    def next_for(self, worker: int) -> Task:
        """Return the next task of a worker, by its number; raises IndexError when nothing is left."""
        own = self._runs[worker]
        if not own:
            longest = max(self._runs, key=len)
            own.extendleft(longest.pop() for _ in range((len(longest) + 1) // 2))
        return own.popleft()
