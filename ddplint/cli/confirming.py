"""What ``ddplint confirm`` does: the program of a script is linted, run, judged and reported on."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ddplint.cli.confirm import Options
from ddplint.cli.output import use_color
from ddplint.config import load_settings
from ddplint.engine.outcomes import Linted, Report
from ddplint.engine.run import Linter, lint_files
from ddplint.errors import EnvironmentLacks, OptionError, PathError
from ddplint.findings import Finding, Status
from ddplint.reporting import Format, render
from ddplint.reporting.json import render_json
from ddplint.reporting.run import render_run, run_content
from ddplint.runtime.confirm import Extent
from ddplint.runtime.confirm import confirm as run_and_judge
from ddplint.runtime.launch import Request, gpus
from ddplint.runtime.start import Start, start_of
from ddplint.runtime.supervisor import Limits
from ddplint.trace import Trace

SCRIPT_FAILED = 4


def confirm(options: Options) -> int:
    """Lint, run and judge what the options name, and return the exit code."""
    cwd = Path.cwd()
    if not options.script.is_file():
        raise PathError(f"no such script: {options.script}")
    python = options.python or sys.executable
    _require_torch(python)
    settings = load_settings(cwd, options.config)
    if options.select:
        settings = settings.with_options(extend_select=(), ignore=())
    settings = settings.with_options(select=options.select, ignore=options.ignore, pedantic=options.pedantic)
    linter = Linter(settings)
    project = linter.workspace.project(options.script)
    program = project.program(options.script.resolve())
    report = Report(tuple(sorted(lint_files(linter, program, cwd, jobs=1), key=lambda outcome: outcome.path)))
    start = start_of(options.script.resolve(), project)
    request = Request(
        script=str(options.script),
        arguments=options.arguments,
        python=python,
        nproc=options.nproc,
        launcher=options.launcher,
        start=start,
        write=options.write,
        stand_in=gpus() < (1 if start is Start.ALONE else options.nproc),
    )
    limits = Limits(options.time_limit, options.stall, options.start_stall)
    with _folder(options.keep_run) as folder:
        findings, trace = run_and_judge(
            request, Extent(options.steps, options.epochs), limits, report.findings, linter.rules, folder, cwd
        )
    report = _with(report, findings)
    _show(report, trace, options, linter)
    return _exit_code(report, trace)


def _require_torch(python: str) -> None:
    try:
        done = subprocess.run(
            [python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"],
            capture_output=True,
            timeout=60,
            check=False,
        )
    except OSError as error:
        raise OptionError(f"--python {python}: {error.strerror or error}") from None
    if done.returncode:
        raise EnvironmentLacks(f"{python} has no torch: name the interpreter of the script with --python")


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """The folder of the run: the user's, which has to be new or empty, or one that is removed in the end."""
    if keep is None:
        folder = Path(tempfile.mkdtemp(prefix="ddplint-")).resolve()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise PathError(f"--keep-run {keep}: the folder is not empty")
    except OSError as error:
        raise PathError(f"cannot make {keep}: {error.strerror or error}") from None
    yield keep.resolve()


def _with(report: Report, findings: list[Finding]) -> Report:
    """Return the report with the findings in the place of its own."""
    outcomes = (
        replace(outcome, findings=tuple(one for one in findings if one.path == outcome.path))
        if isinstance(outcome, Linted)
        else outcome
        for outcome in report.outcomes
    )
    return replace(report, outcomes=tuple(outcomes))


def _show(report: Report, trace: Trace, options: Options, linter: Linter) -> None:
    if options.output_format == "json":
        sys.stdout.write(render_json(report, run=run_content(trace)))
        return
    color = use_color(options.color, sys.stdout)
    sys.stdout.write(render(report, Format(options.output_format), rules=linter.selected, color=color))
    if options.output_format == "text":
        sys.stdout.write("\n" + render_run(trace, report.findings, color=color))


def _exit_code(report: Report, trace: Trace) -> int:
    """0 nothing confirmed; 1 something confirmed; 3 our defect; 4 the script failed, no confirmed finding says why."""
    if report.exit_code() == 3:
        return 3
    if any(finding.verdict and finding.verdict.status is Status.CONFIRMED for finding in report.findings):
        return 1
    return 0 if trace.ended_well else SCRIPT_FAILED
