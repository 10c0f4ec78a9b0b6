"""What a migration raises when it can't prove that the code means the same afterwards."""

from __future__ import annotations

from ddplint.errors import DdplintError


class CannotMigrate(DdplintError):
    """The code uses what moves in a way that can't be followed; it then stays as it is."""
