"""A script run under observation, and the findings about it judged by what it did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ddplint.findings import Finding
from ddplint.project.root import project_root
from ddplint.runtime.judge import judge
from ddplint.runtime.launch import Request, launches
from ddplint.runtime.probe.plan import Plan
from ddplint.runtime.supervisor import Limits, supervise
from ddplint.trace import Trace

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule

_PATIENCE = 10.0  # seconds that a rank which has seen enough waits for the others
_PULSE = 0.5  # seconds


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a script is run: ``steps`` batches of each pass, ``epochs`` passes that train."""

    steps: int
    epochs: int


def run(
    request: Request, extent: Extent, limits: Limits, findings: Sequence[Finding], folder: Path, cwd: Path
) -> Trace:
    """Run a script in ``cwd`` and return what it did; ``folder`` takes the records.

    Raises KeyboardInterrupt when the user ended the run; no process is left then either.
    """
    plan = Plan(
        root=str(project_root(cwd / request.script)),
        nproc=request.nproc,
        steps=extent.steps,
        epochs=extent.epochs,
        write=request.write,
        stand_in=request.stand_in,
        patience=min(_PATIENCE, limits.stall * 2),
        pulse=min(_PULSE, limits.stall / 6),
        lines=_lines(findings, cwd),
    )
    plan.store(str(folder))
    supervise(launches(request, folder), folder, cwd, limits)
    return Trace.from_folder(folder, cwd)


def confirm(
    request: Request,
    extent: Extent,
    limits: Limits,
    findings: Sequence[Finding],
    rules: Iterable[RegisteredRule],
    folder: Path,
    cwd: Path,
) -> tuple[list[Finding], Trace]:
    """Run a script and return the findings with their verdicts, and what the script did."""
    before = _digests(findings, cwd)
    trace = run(request, extent, limits, findings, folder, cwd)
    after = _digests(findings, cwd)
    changed = {path for path in before if before[path] != after[path]}
    return judge(findings, {rule.rule.code: rule for rule in rules}, trace, changed), trace


def _lines(findings: Sequence[Finding], cwd: Path) -> dict[str, list[int]]:
    """Return the lines that the findings speak of, by absolute path."""
    lines: dict[str, set[int]] = {}
    for finding in findings:
        for place in (finding.place, finding.lines, *finding.related):
            own = lines.setdefault(str((cwd / place.path).resolve()), set())
            own.update(range(place.start.line, place.end.line + 1))
    return {path: sorted(own) for path, own in lines.items()}


def _digests(findings: Sequence[Finding], cwd: Path) -> dict[str, str]:
    return {path: sha256((cwd / path).read_bytes()).hexdigest() for path in {finding.path for finding in findings}}
