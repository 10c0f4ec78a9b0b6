"""Code moved from what is old to what is new: a plan over a project, then edits."""

from __future__ import annotations

from ddplint.migration.ddp import DataParallelMove
from ddplint.migration.renames import Rename
from ddplint.migration.torch_amp import TorchAmpMove

__all__ = ["DataParallelMove", "Rename", "TorchAmpMove"]
