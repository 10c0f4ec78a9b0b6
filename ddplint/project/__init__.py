"""Many files understood together: imports resolved, callers found, what drives the program."""

from __future__ import annotations

from ddplint.project.project import Project
from ddplint.project.workspace import Workspace

__all__ = ["Project", "Workspace"]
