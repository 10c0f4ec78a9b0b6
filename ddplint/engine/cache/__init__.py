"""Outcomes kept from run to run, each with what it was worked out from."""

from __future__ import annotations

from ddplint.engine.cache.folder import FOLDER, clean
from ddplint.engine.cache.outcomes import OutcomeCache

__all__ = ["FOLDER", "OutcomeCache", "clean"]
