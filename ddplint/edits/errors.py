"""What the primitives raise when they do not know how to make an edit."""

from __future__ import annotations

from ddplint.errors import DdplintError


class CannotEdit(DdplintError):
    """The code around the place has a shape that no primitive can change safely; the finding then has no fix."""
