"""What a training script asks of the machine, read from its text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ddplint.errors import PathError
from ddplint.semantics.arguments import Missing

_INIT = "torch.distributed.init_process_group"


@dataclass(frozen=True, slots=True)
class Needs:
    """Backends of process groups, ports that are written into the script, and the oldest torch that it runs on."""

    script: str | None = None
    backends: frozenset[str] = frozenset()
    ports: frozenset[int] = frozenset()
    torch_version: tuple[int, int] | None = None

    @property
    def wants_gpus(self) -> bool:
        """Whether the script can't run without GPUs: NCCL is its only backend."""
        return self.backends == {"nccl"}


def needs_of(path: Path, shown: str) -> Needs:
    """Read what a script, and the files of its program, ask for; nothing of them is run.

    Raises PathError where the script can't be read or parsed.
    """
    from ddplint.project import Workspace  # imports libcst

    if not path.is_file():
        raise PathError(f"no such file: {shown}")
    project = Workspace().project(path)
    script = project.script(path.resolve())
    if script is None:
        raise PathError(f"{shown} can't be read or parsed")
    backends: set[str] = set()
    ports: set[int] = set()
    for member in filter(None, map(project.script, project.program_of(script))):
        for call in project.calls(member, _INIT):
            given = project.argument(call, "backend")
            values = () if isinstance(given, Missing) else project.constants(given) or ()
            backends |= {value for value in values if isinstance(value, str)}
        ports |= {int(port.port) for port in project.meeting_ports(member)}
    return Needs(shown, frozenset(backends), frozenset(ports), project.torch.lowest)
