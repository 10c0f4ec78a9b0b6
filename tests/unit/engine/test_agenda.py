"""How tasks are shared out between workers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddplint.engine.agenda import Agenda


def test_neighbours_stay_with_one_worker() -> None:
    agenda = Agenda(range(6), 2)
    assert [agenda.next_for(0), agenda.next_for(1), agenda.next_for(0), agenda.next_for(1)] == [0, 3, 1, 4]


def test_who_is_done_takes_the_later_half_of_the_longest_run() -> None:
    agenda = Agenda(range(8), 2)
    assert [agenda.next_for(1) for _ in range(4)] == [4, 5, 6, 7]
    assert [agenda.next_for(1), agenda.next_for(0), agenda.next_for(1), agenda.next_for(0)] == [2, 0, 3, 1]
    assert not agenda


def test_nothing_is_left_when_nothing_was_there() -> None:
    agenda = Agenda[int]([], 3)
    assert not agenda
    with pytest.raises(IndexError):
        agenda.next_for(0)


@given(st.integers(0, 40), st.integers(1, 7), st.data())
def test_every_task_is_done_once_whoever_asks(tasks: int, workers: int, data: st.DataObject) -> None:
    agenda = Agenda(range(tasks), workers)
    done = []
    while agenda:
        done.append(agenda.next_for(data.draw(st.integers(0, workers - 1))))
    assert sorted(done) == list(range(tasks))
