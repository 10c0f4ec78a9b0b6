"""Workers that die, hang or raise cost one task each."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing import active_children

import pytest

from ddplint.engine.pool import Lost, answers

LIMIT = 30.0


def upper() -> Callable[[str], str]:
    return answer


def answer(task: str) -> str:
    """What a worker does in these tests; the task names it."""
    if task == "exit":
        os._exit(5)
    if task == "crash":
        ctypes.string_at(0)
    if task == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "raise":
        raise ValueError(task)
    if task == "hang":
        time.sleep(600)
    return task.upper()


def results(tasks: list[str], jobs: int = 2, limit: float = LIMIT) -> dict[str, str | Lost]:
    return dict(answers(upper, tasks, jobs, limit))


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        pytest.param("exit", "its worker ended with exit status 5", id="a worker that leaves"),
        pytest.param("crash", "its worker was killed by SIGSEGV", id="a worker that crashes"),
        pytest.param("killed", "its worker was killed by SIGKILL (out of memory?)", id="a worker that is killed"),
        pytest.param("raise", "its worker ended with exit status 1", id="a worker that raises"),
    ],
)
def test_a_worker_that_dies_loses_one_task(task: str, reason: str) -> None:
    others = ["a", "b", "c", "d"]
    assert results(["a", "b", task, "c", "d"]) == {name: name.upper() for name in others} | {task: Lost(reason)}


def test_a_worker_that_hangs_is_replaced() -> None:
    assert results(["hang", "a", "b"], jobs=1, limit=8) == {
        "hang": Lost("no answer within 8 seconds"),
        "a": "A",
        "b": "B",
    }


def test_many_tasks_get_their_own_answers_from_few_workers() -> None:
    tasks = [f"task {number}" for number in range(50)]
    assert results(tasks, jobs=3) == {task: task.upper() for task in tasks}


def test_no_task_needs_no_worker() -> None:
    assert results([]) == {}


def test_closing_the_answers_ends_the_workers() -> None:
    before = set(active_children())
    with closing(answers(upper, ["a", "hang", "b", "c"], 2, LIMIT)) as arriving:
        assert next(arriving)[0] in {"a", "b"}
        assert set(active_children()) - before
    assert set(active_children()) - before == set()


def test_what_a_dying_worker_says_does_not_reach_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    results(["raise"])
    assert capfd.readouterr() == ("", "")
