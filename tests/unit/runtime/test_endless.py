"""Batches that go on for ever are not cut; all others are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from types import SimpleNamespace

import pytest

from ddplint.runtime.probe.data import _beyond_the_end


class Sampler:
    """A sampler of somebody's own."""

    def __init__(self, batches: int | None, length: int | None) -> None:
        self.batches = batches
        self.length = length

    def __iter__(self) -> Iterator[int]:
        return iter(islice(count(), self.batches))

    def __len__(self) -> int:
        if self.length is None:
            raise TypeError("no length")
        return self.length


@pytest.mark.parametrize(
    ("sampler", "length", "expected"),
    [
        pytest.param(Sampler(10, 10), 10, None, id="as many batches as there should be"),
        pytest.param(Sampler(3, 3), 3, None, id="fewer batches than the limit"),
        pytest.param(Sampler(None, 10), 10, [5, 6, 7, 8, 9, 10], id="one batch more than there should be"),
        pytest.param(Sampler(None, None), 10, [5, 6, 7, 8, 9, 10], id="the length is the loader's"),
        pytest.param(Sampler(None, None), None, [], id="nobody knows a length"),
    ],
)
def test_beyond_the_end(sampler: Sampler, length: int | None, expected: list[int] | None) -> None:
    drawn = iter(sampler)
    taken = list(islice(drawn, 5))  # four batches, and the one that asks
    found = _beyond_the_end(Sampler(None, length), SimpleNamespace(_index_sampler=sampler), drawn, len(taken))
    assert found == expected
