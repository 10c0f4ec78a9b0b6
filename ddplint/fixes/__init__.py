"""Fixes made in rounds and checked after each, written atomically or shown as a patch."""

from __future__ import annotations

from ddplint.fixes.apply import apply
from ddplint.fixes.diff import diff
from ddplint.fixes.plan import plan_round
from ddplint.fixes.rounds import MAX_ROUNDS, DefectReport, Settled, settle
from ddplint.fixes.trial import Lint
from ddplint.fixes.write import write_atomically

__all__ = ["MAX_ROUNDS", "DefectReport", "Lint", "Settled", "apply", "diff", "plan_round", "settle", "write_atomically"]
