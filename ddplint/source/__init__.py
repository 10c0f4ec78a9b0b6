"""Files found, bytes turned into text and back exactly, places, suppression comments."""

from __future__ import annotations

from ddplint.source.position import Position

__all__ = ["Position"]
