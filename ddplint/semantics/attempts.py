"""Which errors the code around a place catches, and which code a handler belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ddplint.semantics.structure import Region, RegionKind


def caught(region: Region) -> frozenset[str]:
    """Return the last names of the errors that the ``try`` statements around a region, inside its function, catch.

    A bare ``except`` catches ``BaseException``.
    """
    around = (outer for outer in region.chain() if outer.kind is RegionKind.TRY)
    return frozenset(name for outer in around for name in _handled(outer.node))


def is_tried(region: Region, handler: Region) -> bool:
    """Whether a region lies in the ``try`` block of a handler."""
    around = (outer.node for outer in region.chain() if outer.kind is RegionKind.TRY)
    return any(handler.node in getattr(node, "handlers", ()) for node in around)


def _handled(attempt: Any) -> Iterator[str]:
    for handler in attempt.handlers:
        if handler.type is None:
            yield "BaseException"
        else:
            kinds = getattr(handler.type, "elements", None)
            yield from map(_last_name, [handler.type] if kinds is None else [kind.value for kind in kinds])


def _last_name(node: Any) -> str:
    named = getattr(node, "attr", node)
    return str(getattr(named, "value", ""))
