"""How loud an impact is, for formats that know three levels only."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ddplint.findings import Impact


class Severity(Enum):
    """The three levels that SARIF and annotations share."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


SEVERITY: Mapping[Impact, Severity] = {
    Impact.CRASH: Severity.ERROR,
    Impact.HANG: Severity.ERROR,
    Impact.WRONG: Severity.ERROR,
    Impact.SLOW: Severity.WARNING,
    Impact.DEPRECATED: Severity.WARNING,
    Impact.NOISE: Severity.NOTE,
}
