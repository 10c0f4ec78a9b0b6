"""The command line: options in, exit code out."""

from __future__ import annotations

from ddplint.cli.entry import main

__all__ = ["main"]
