"""From DataParallel in one process to DistributedDataParallel in one process for each GPU."""

from __future__ import annotations

from ddplint.migration.ddp.outcome import Outcome, Plan, Refusal, Remark
from ddplint.migration.ddp.plan import plan

__all__ = ["Outcome", "Plan", "Refusal", "Remark", "plan"]
