"""What a traced run wrote down, and the questions that rules ask of it.

The probe in the user's process imports this package too: it needs nothing but the standard library of Python 3.8.
"""

from __future__ import annotations

from ddplint.trace.events import Event, Frame, Process, Stretch
from ddplint.trace.kinds import SCHEMA, Kind
from ddplint.trace.outcome import Ending, Outcome, Pulse
from ddplint.trace.passes import LoaderPass
from ddplint.trace.trace import Trace
from ddplint.trace.waiting import Wait

__all__ = [
    "SCHEMA",
    "Ending",
    "Event",
    "Frame",
    "Kind",
    "LoaderPass",
    "Outcome",
    "Process",
    "Pulse",
    "Stretch",
    "Trace",
    "Wait",
]
