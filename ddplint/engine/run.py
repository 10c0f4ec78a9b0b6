"""Many files: those that pass the gate are linted here when they are few, else in isolated workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.engine.gate import Assignment, Gate
from ddplint.engine.lint_file import FileLinter
from ddplint.engine.outcomes import Failed, Linted, Outcome
from ddplint.engine.per_file import PerFileIgnores
from ddplint.project import Workspace
from ddplint.project.project import DISTRIBUTION_WORDS
from ddplint.rulekit.pack import load_rules
from ddplint.rulekit.select import EVERYTHING, covered, select_rules
from ddplint.source import SourceFile, shown_path

if TYPE_CHECKING:
    from ddplint.config import Settings
    from ddplint.engine.cache import OutcomeCache

# Bytes. A run beyond the small is isolated from what may kill a process. A further worker reads the project anew, which
# is worth it for about this share of the files.
SMALL_RUN = 200_000
SHARE = 1_000_000
# Seconds that a worker may take for one file.
TIME_LIMIT = 60.0


class Linter:
    """The rules and the settings of a run, ready to lint.

    ``rules`` are all there are, ``selected`` those that run, ``fixable`` the codes of those whose fixes may be made.
    Raises PackError for a rule pack that does not load, OptionError for a selector that covers no rule.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rules = load_rules(settings.plugins)
        self.selected = select_rules(self.rules, settings.select, settings.extend_select, settings.ignore)
        self.fixable = covered(settings.fixable or (EVERYTHING,), self.rules, "fixable")
        self.fixable -= covered(settings.unfixable, self.rules, "unfixable")
        self._ignores = PerFileIgnores(settings, self.rules)
        self._open(Workspace(settings.torch_version), {})

    def assign(self, path: Path, shown: str, data: bytes) -> Assignment:
        """Choose the rules for the file at ``path``, which holds ``data`` or is to be linted as if it did."""
        return self._gate.assign(path, shown, data)

    def lint(self, assignment: Assignment) -> Outcome:
        """Lint a file with the rules that were chosen for it."""
        return self._file_linter.lint(assignment)

    def holding(self, contents: Mapping[Path, bytes]) -> Linter:
        """Return a linter with the same rules for a tree in which files hold other bytes than on disk."""
        other = copy(self)
        other._open(self.workspace.holding(contents), contents)
        return other

    def _open(self, workspace: Workspace, contents: Mapping[Path, bytes]) -> None:
        self.workspace = workspace
        self.contents = contents

        def is_distributed(path: Path, data: bytes) -> bool:
            # The text itself comes first: it may not be on disk, and the search over the project is dear.
            return any(word in data for word in DISTRIBUTION_WORDS) or workspace.is_distributed(path)

        self._gate = Gate(self.selected, self._ignores, is_distributed)
        self._file_linter = FileLinter(self.rules, self.settings, workspace)


def lint_files(
    linter: Linter,
    files: Iterable[Path],
    cwd: Path,
    jobs: int,
    time_limit: float = TIME_LIMIT,
    cache: OutcomeCache | None = None,
) -> Iterator[Outcome]:
    """Lint files and yield their outcomes as they come, in no particular order.

    ``jobs`` is the most worker processes; ``time_limit`` is in seconds and holds for one file in a worker. What the
    ``cache`` knows is not worked out again, and what is new goes there.
    """
    pending: list[Assignment] = []
    contents: dict[str, tuple[Path, bytes]] = {}
    for path in files:
        shown = shown_path(path, cwd)
        # A pipe can be read only once and has no neighbours: it stands for a nameless file of the working directory.
        place = path if path.is_file() else cwd / f"<{path.name}>"
        try:
            data = path.read_bytes()
        except OSError as error:
            yield Failed(shown, f"cannot be read: {error.strerror or error}", ours=False)
            continue
        known = None if cache is None else cache.find(place, shown, data)
        if known is not None:
            yield known
            continue
        pending.append(linter.assign(place, shown, data))
        contents[shown] = (place, data)
    try:
        for outcome in _lint_awake(linter, pending, jobs, time_limit):
            yield outcome
            if cache is not None and isinstance(outcome, Linted):
                cache.keep(*contents[outcome.path], outcome)
    finally:
        if cache is not None:
            cache.save()


def lint_texts(
    linter: Linter, sources: Mapping[str, SourceFile], jobs: int, time_limit: float = TIME_LIMIT
) -> dict[str, Outcome]:
    """Lint other texts of files than those on disk; return the outcomes by path."""
    contents = {shown: source.encode(source.text) for shown, source in sources.items()}
    linter = linter.holding({Path(shown): data for shown, data in contents.items()})
    assignments = [linter.assign(Path(shown), shown, data) for shown, data in contents.items()]
    return {outcome.path: outcome for outcome in _lint_assigned(linter, assignments, jobs, time_limit)}


def _lint_awake(linter: Linter, pending: Sequence[Assignment], jobs: int, time_limit: float) -> Iterator[Outcome]:
    yield from (Linted(assignment.shown) for assignment in pending if not assignment.awake)
    yield from _lint_assigned(linter, [assignment for assignment in pending if assignment.awake], jobs, time_limit)


def _lint_assigned(
    linter: Linter, assignments: Sequence[Assignment], jobs: int, time_limit: float
) -> Iterator[Outcome]:
    size = sum(len(assignment.data) for assignment in assignments)
    if size <= SMALL_RUN:
        yield from map(linter.lint, assignments)
    else:
        yield from _lint_in_workers(linter, assignments, min(jobs, size // SHARE + 1), time_limit)


def _lint_in_workers(
    linter: Linter, assignments: Sequence[Assignment], jobs: int, time_limit: float
) -> Iterator[Outcome]:
    from ddplint.engine.pool import Lost, answers  # multiprocessing costs more than linting a small file

    start = partial(_start, linter.settings, linter.contents)
    for assignment, answer in answers(start, assignments, jobs, time_limit):
        yield Failed(assignment.shown, answer.reason, ours=True) if isinstance(answer, Lost) else answer


def _start(settings: Settings, contents: Mapping[Path, bytes]) -> Callable[[Assignment], Outcome]:
    return Linter(settings).holding(contents).lint
