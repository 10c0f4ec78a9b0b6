"""Linter and autofixer for PyTorch multi-GPU training scripts."""

from __future__ import annotations

__version__ = "0.1.0"
