"""On how many machines a program runs, as far as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddplint.semantics import Script

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Words of programs for one machine: they start their processes themselves, or meet at the machine's own address.
_ONE_MACHINE = (
    b"mp.spawn",
    b"multiprocessing.spawn",
    b"import spawn",
    b"mp.Process",
    b"multiprocessing.Process",
    b"127.0.0.1",
    b"localhost",
)


class Machines:
    """Answers for programs."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def may_be_one(self, script: Script) -> bool:
        """Whether the program of a script may be made for one machine alone, where local and global ranks agree."""
        return self._project.mentions(script, _ONE_MACHINE)
