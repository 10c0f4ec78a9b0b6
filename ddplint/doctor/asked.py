"""What the machine is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from ddplint.doctor.needs import Needs


@dataclass(frozen=True, slots=True)
class Asked:
    """The number of processes on this machine (None: one for each GPU), that of machines, and what a script needs."""

    processes: int | None = None
    machines: int = 1
    needs: Needs = field(default_factory=Needs)
