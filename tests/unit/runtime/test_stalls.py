"""When a run stands still: every rank waits, and nothing moves."""

from __future__ import annotations

from typing import Any

import pytest

from ddplint.runtime.supervisor import Limits, Watch

LIMITS = Limits(run=300, stall=20, start_stall=60)


def pulse(rank: int, time: float, pending: str | None = "barrier", cpu: float = 0.0, **other: Any) -> dict[str, Any]:
    about = {"pid": rank, "written": 7, "stepped": True, "phase": "running", "stack": [["train.py", 4, "main"]]}
    return {**about, "time": time, "pending": pending, "cpu": cpu, **other}


def stalled_at(pulses: Any, seconds: int = 100) -> int | None:
    """The second in which a run is found to stand still, None when it never is."""
    watch = Watch()
    return next((now for now in range(seconds) if watch.is_stalled(pulses(now), LIMITS, now)), None)


@pytest.mark.parametrize(
    ("pulses", "expected"),
    [
        pytest.param(lambda now: [pulse(0, now), pulse(1, now, "backward")], 20, id="both wait"),
        pytest.param(lambda now: [pulse(0, now)], 20, id="the one that is left waits"),
        pytest.param(lambda now: [pulse(0, now, stepped=False)], 60, id="before the first step"),
        pytest.param(lambda now: [pulse(0, now), pulse(1, now, None)], None, id="one does something else"),
        pytest.param(lambda now: [pulse(0, now), pulse(1, now, phase="loading")], None, id="one waits for its data"),
        pytest.param(lambda now: [pulse(0, now), pulse(1, now, phase="importing")], None, id="one imports"),
        pytest.param(lambda now: [pulse(0, now), pulse(1, now, phase="parked")], None, id="one has seen enough"),
        pytest.param(lambda now: [pulse(0, now, written=now)], None, id="events are written"),
        pytest.param(lambda now: [pulse(0, now, "backward", cpu=now / 2)], None, id="a backward pass that computes"),
        pytest.param(lambda now: [pulse(0, now, "backward", cpu=now / 100)], 20, id="a backward pass that waits"),
        pytest.param(lambda now: [pulse(0, now, "barrier", cpu=now)], 20, id="a barrier that spins"),
        pytest.param(lambda _now: [], None, id="nobody lives"),
    ],
)
def test_stalls(pulses: Any, expected: int | None) -> None:
    assert stalled_at(pulses) == expected
