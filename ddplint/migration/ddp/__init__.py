"""From DataParallel in one process to DistributedDataParallel in one process for each GPU."""

from __future__ import annotations

from ddplint.migration.ddp.move import DataParallelMove
from ddplint.migration.ddp.outcome import Change, Outcome, Plan, Refusal, Remark

__all__ = ["Change", "DataParallelMove", "Outcome", "Plan", "Refusal", "Remark"]
