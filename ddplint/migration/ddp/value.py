"""What a value is on one process, when every process trains on its own share of each batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from ddplint.semantics.structure import Function


class Share(Enum):
    """How a value of one process goes with that of the one process that had the whole batch."""

    SAME = "the same on every process"
    MEASURED = "the same but for chance: drawn, timed or evaluated by each process"
    MODEL = "the wrapped model"
    BATCH = "samples of the process's own share"
    COUNT = "the number of these samples"
    SIZE = "the shape of these samples"
    MEAN = "a mean over these samples"
    SUM = "a sum over these samples"
    OWN = "made of these samples in a way that is not known"


@dataclass(frozen=True, slots=True)
class Value:
    """``items``: what it can be unpacked into. ``moved``: it was brought to the model's device.

    ``whole``: it is a structure of samples as the loader or the model hands it out, each part of it as long.
    """

    share: Share
    items: tuple[Value, ...] = ()
    moved: bool = False
    whole: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether nothing of the process's own share is in it."""
        return self.share in (Share.SAME, Share.MEASURED, Share.MODEL) and all(item.is_settled for item in self.items)

    @property
    def is_tensor_over_ranks(self) -> bool:
        """Whether it is a tensor that the processes can bring together."""
        return self.share in (Share.MEAN, Share.SUM)

    def item(self, index: int | None) -> Value:
        """Return what unpacking gives at a place."""
        if self.items:
            known = index is not None and -len(self.items) <= index < len(self.items)
            return self.items[index] if known and index is not None else joined(self.items)
        if self.share is Share.SIZE:
            return COUNT if index == 0 else (SAME if index is not None and index > 0 else OWN)
        if self.share is Share.BATCH:
            return self if self.whole else OWN
        return self if self.is_settled else OWN

    def at_device(self) -> Value:
        return replace(self, moved=True)


SAME = Value(Share.SAME)
MEASURED = Value(Share.MEASURED)
MODEL = Value(Share.MODEL)
COUNT = Value(Share.COUNT)
SIZE = Value(Share.SIZE)
MEAN = Value(Share.MEAN)
SUM = Value(Share.SUM)
OWN = Value(Share.OWN)
HANDED_OUT = Value(Share.BATCH, whole=True)


def samples(parts: Iterable[Value]) -> Value:
    """Return samples made from others: on the device when one of those is."""
    return Value(Share.BATCH, moved=any(part.moved for part in parts))


def joined(values: Iterable[Value]) -> Value:
    """Return what a name is that can be any of several values."""
    found = list(dict.fromkeys(values))
    if len(found) == 1:
        return found[0]
    unsettled = [value for value in found if not value.is_settled]
    if not unsettled:
        return _of_settled(found)
    shares = {value.share for value in unsettled}
    if len(shares) > 1 or (len(unsettled) < len(found) and shares != {Share.MEAN} and shares != {Share.BATCH}):
        return OWN
    (share,) = shares
    lengths = {len(value.items) for value in unsettled}
    if lengths != {0} and len(unsettled) == len(found) and len(lengths) == 1:
        columns = zip(*(value.items for value in unsettled), strict=True)
        return Value(share, tuple(joined(column) for column in columns))
    return Value(share, moved=all(value.moved for value in unsettled), whole=all(value.whole for value in unsettled))


def _of_settled(values: list[Value]) -> Value:
    shares = {value.share for value in values}
    if Share.MODEL in shares:
        return MODEL if shares <= {Share.MODEL, Share.SAME} else MEASURED
    return MEASURED if Share.MEASURED in shares or any(value.items for value in values) else SAME


@dataclass(frozen=True, slots=True)
class Frame:
    """A function as a call runs it, with the values of its parameters; ``function`` None: the file itself."""

    function: Function | None = None
    given: tuple[tuple[str, Value], ...] = ()

    def parameter(self, name: str) -> Value:
        return dict(self.given).get(name, SAME)


MODULE = Frame()
