"""The plans of moves to DistributedDataParallel, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.errors import DdplintError
from ddplint.migration import DataParallelMove
from ddplint.project import Workspace
from ddplint.rulekit.pack import load_rules
from ddplint.source import Position, shown_path

if TYPE_CHECKING:
    from ddplint.config import Settings
    from ddplint.migration.ddp import Plan
    from ddplint.semantics import Script

# The word without which a file wraps nothing.
_WORD = b"arallel"


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A DataParallel of a file, where it stands, and the plan for it."""

    path: str
    position: Position
    excerpt: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Unplanned:
    """A file that can't be read or parsed, or whose tree can't be written back, and why."""

    path: str
    reason: str


def plans(files: Sequence[Path], settings: Settings, cwd: Path) -> Iterator[PlannedMove | Unplanned]:
    """Yield a plan for each DataParallel that the rules report as one that trains, file after file."""
    workspace = Workspace(settings.torch_version)
    checks = [rule.check for rule in load_rules(settings.plugins) if rule.rule.code == "DDP101"]
    for path in files:
        shown = shown_path(path, cwd)
        try:
            if _WORD not in path.read_bytes():
                continue
            project = workspace.project(path)
            script = project.script(path.resolve())
            if script is None:
                yield Unplanned(shown, "it can't be parsed")
                continue
            moves = [found.subject for check in checks if check is not None for found in check(script, project)]
            yield from _planned(shown, script, [move for move in moves if isinstance(move, DataParallelMove)])
        except OSError as error:
            yield Unplanned(shown, f"cannot be read: {error.strerror or error}")
        except DdplintError as error:
            yield Unplanned(shown, str(error))


def _planned(shown: str, script: Script, moves: Sequence[DataParallelMove]) -> Iterator[PlannedMove]:
    if not moves:
        return
    from ddplint.edits import Editor  # imports libcst
    from ddplint.source.spans import Spans

    spans = Spans(script.module, script.parsed_text)
    editor = Editor(script.source, script.module, spans)
    for move in moves:
        position = script.source.position(spans.of(move.use.call.node)[0])
        yield PlannedMove(shown, position, script.source.line(position.line).strip(), move.plan(editor))
