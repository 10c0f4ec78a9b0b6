"""Where a script says which of all processes it is: to a process group, or by taking every n-th item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Expression, Script
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import Slice

if TYPE_CHECKING:
    from ddplint.project.project import Project

_INIT = "torch.distributed.init_process_group"


class RankPurpose(Enum):
    """What a rank is given for."""

    GROUP = "to join the process group"
    SLICE = "to take every n-th item"


@dataclass(frozen=True, slots=True)
class RankUse:
    """A number that is taken for the rank among all processes, and the number of these, where it is given."""

    purpose: RankPurpose
    rank: Expression
    world_size: Expression | None


class RankUses:
    """Finds the places that want the rank in the whole job."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[RankUse]:
        """Yield the ranks that a script gives; the number of processes may be unknown only where it is left out."""
        for call in self._project.calls(script, _INIT):
            rank, count = self._project.argument(call, "rank"), self._project.argument(call, "world_size")
            if isinstance(rank, Expression) and count is not Missing.UNKNOWN:
                yield RankUse(RankPurpose.GROUP, rank, count if isinstance(count, Expression) else None)
        for taken in script.sliced:
            cut = taken.index
            if isinstance(cut, Slice) and cut.lower is not None and cut.upper is None and cut.step is not None:
                yield RankUse(RankPurpose.SLICE, cut.lower, cut.step)
