"""How a script wants to be started, told from its text."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from ddplint.project import Project
from ddplint.project.project import DISTRIBUTION_WORDS


class Start(Enum):
    """Who starts the processes of a run."""

    LAUNCHER = "a launcher, one for each rank"
    ITSELF = "the script itself"
    ALONE = "nobody: the script is one process"


def start_of(path: Path, project: Project) -> Start:
    """Return how the program of a script is started."""
    files = [file for file in project.program(path) if _speaks_of_ranks(project.files.content(file))]
    if not files:
        return Start.ALONE
    scripts = [script for script in map(project.script, files) if script is not None]
    own = project.script(path)
    if own is not None and own not in scripts:
        scripts.append(own)
    starts_them = any(project.processes.are_started_by(script) for script in scripts)
    return Start.ITSELF if starts_them else Start.LAUNCHER


def _speaks_of_ranks(content: bytes) -> bool:
    return any(word in content for word in DISTRIBUTION_WORDS)
