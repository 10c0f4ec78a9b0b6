"""Text edits made from LibCST nodes by a handful of primitives."""

from __future__ import annotations

from ddplint.edits.editor import Editor
from ddplint.edits.errors import CannotEdit
from ddplint.edits.parses import breakage

__all__ = ["CannotEdit", "Editor", "breakage"]
