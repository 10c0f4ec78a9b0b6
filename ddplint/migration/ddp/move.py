"""The move of one DataParallel, as a rule and a report ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.findings import Applicability, Fix
from ddplint.migration.ddp.outcome import Outcome, Plan
from ddplint.project import Project
from ddplint.project.data_parallel import DataParallelUse

if TYPE_CHECKING:
    from ddplint.edits import Editor

LAUNCH = (
    "start it with `torchrun --nproc_per_node=N`, or with python as before for one process; "
    "each process evaluates all of the evaluation data"
)


@dataclass(frozen=True, slots=True)
class DataParallelMove:
    """A DataParallel, and the way to DistributedDataParallel."""

    project: Project
    use: DataParallelUse

    def plan(self, editor: Editor) -> Plan:
        """Return what the move takes, or why it can't be made."""
        from ddplint.migration.ddp.plan import plan  # imports libcst

        return plan(self.project, self.use.call.scope.script, self.use, editor)

    def fix(self, editor: Editor) -> Fix | None:
        """Return the fix that makes the move; None where it is refused. With points to look at, it is unsafe."""
        made = self.plan(editor)
        if made.outcome is Outcome.REFUSED:
            return None
        safe = made.outcome is Outcome.DONE
        looks = "".join(f"; look at line {note.position.line}: {note.text}" for note in made.notes)
        message = f"Move to DistributedDataParallel; {LAUNCH}{looks}"
        return Fix(Applicability.SAFE if safe else Applicability.UNSAFE, message, made.edits)
