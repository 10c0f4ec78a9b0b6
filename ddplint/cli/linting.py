"""What ``ddplint check`` does: files are found, linted, fixed if asked for, and reported on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ddplint.cli.check import Options
from ddplint.cli.ending import Ending
from ddplint.cli.output import Output
from ddplint.cli.progress import with_progress
from ddplint.cli.stdin import lint_stdin
from ddplint.config import Settings, load_settings
from ddplint.engine.baseline import DEFAULT_NAME, Baseline, load_baseline
from ddplint.engine.cache import OutcomeCache
from ddplint.engine.outcomes import Report, Skipped
from ddplint.engine.run import Linter, lint_files
from ddplint.errors import OptionError, PathError
from ddplint.reporting import Format
from ddplint.reporting.escape import visible
from ddplint.reporting.totals import counted
from ddplint.source import discover, shown_path

STDIN = Path("-")
# The rule whose fix rewrites a whole script.
MIGRATION = "DDP101"


def check(options: Options) -> int:
    """Lint what the options name and return the exit code."""
    _refuse_contradictions(options)
    settings = _settings(options)
    linter = Linter(settings)
    output = Output(Format(options.output_format), options.statistics, options.output, options.color, linter.selected)
    data = None
    if STDIN in options.paths:
        report, data = lint_stdin(options.stdin_filename, linter)
    else:
        report = _lint(options, linter)
    baseline = _baseline(options, settings)
    if options.update_baseline:
        return _update(baseline, report)
    ending = Ending(options, settings.fail_on, baseline, output)
    if options.add_ignore:
        return _add_ignores(options, linter, ending, report)
    if not options.fixes:
        return ending.conclude(report, sys.stdout)
    from ddplint.cli.fixing import fix_files, fix_stdin  # a run that fixes nothing need not wait for these

    if data is None:
        return fix_files(options, linter, report, ending)
    return fix_stdin(options, linter, report, data, ending)


def _baseline(options: Options, settings: Settings) -> Baseline:
    """The baseline that the options name, else the settings, else the one of the usual name beside the settings."""
    file = options.baseline or settings.root / (settings.baseline or DEFAULT_NAME)
    given = options.baseline is not None or settings.baseline is not None
    if given and not options.update_baseline and options.use_baseline and not file.exists():
        raise PathError(f"no such baseline: {file}; --update-baseline writes it")
    return load_baseline(file) if options.use_baseline or options.update_baseline else Baseline(file)


def _add_ignores(options: Options, linter: Linter, ending: Ending, report: Report) -> int:
    """Write comments for the findings that are shown, say how many, and report on what remains."""
    from ddplint.engine.ignore import add_ignores  # only this needs the parser once more

    shown = ending.baseline.without_known(report, Path.cwd())
    left = add_ignores(linter, shown, options.most_jobs)
    written = len(shown.findings) - len(left.findings)
    print(f"Left {counted(written, 'finding')} as it is." if written == 1 else f"Left {written} findings as they are.")
    return ending.conclude(left, sys.stdout)


def _update(baseline: Baseline, report: Report) -> int:
    """Write all findings into the baseline, and say what is no longer found."""
    newer = baseline.updated(report, Path.cwd())
    newer.save()
    for known in baseline.lost(newer):
        print(f"no longer found: {visible(known.path)}: {known.code} {visible(known.line)}")
    print(f"{counted(sum(newer.known.values()), 'finding')} put off in {visible(str(newer.file))}")
    return report.exit_code(exit_zero=True)


def _lint(options: Options, linter: Linter) -> Report:
    cwd = Path.cwd()
    discovered = discover(options.paths or (Path(),), linter.settings, cwd)
    skipped = [Skipped(shown_path(path, cwd), reason) for path, reason in discovered.skipped]
    cache = OutcomeCache(linter, cwd) if options.cache else None
    outcomes = lint_files(linter, discovered.files, cwd, options.most_jobs, cache=cache)
    if options.output_format == "text" and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        outcomes = with_progress(outcomes, len(discovered.files))
    return Report(tuple(sorted([*skipped, *outcomes], key=lambda outcome: outcome.path)))


def _refuse_contradictions(options: Options) -> None:
    if options.unsafe_fixes and not options.fixes:
        raise OptionError("--unsafe-fixes needs --fix, --fix-only or --diff beside it")
    if options.update_baseline and (options.fixes or STDIN in options.paths or not options.use_baseline):
        raise OptionError("--update-baseline goes neither with fixes nor with standard input or --no-baseline")
    if options.add_ignore and (options.fixes or options.update_baseline or STDIN in options.paths):
        raise OptionError("--add-ignore goes neither with fixes nor with --update-baseline or standard input")
    if options.statistics and options.output_format != "text":
        raise OptionError(f"--statistics is text: it does not go with --format {options.output_format}")
    if STDIN in options.paths and len(options.paths) > 1:
        raise OptionError("- (standard input) does not go with other paths")
    if options.stdin_filename is not None and STDIN not in options.paths:
        raise OptionError("--stdin-filename needs - (standard input) as the path")


def _settings(options: Options) -> Settings:
    """The settings with the options over them; ``--select`` takes the place of all that they say of selection."""
    settings = load_settings(_start(options), options.config)
    if options.select:
        settings = settings.with_options(extend_select=(), ignore=())
    return settings.with_options(
        select=options.select,
        ignore=options.ignore,
        extend_select=(*settings.extend_select, *(options.extend_select or ())),
        pedantic=options.pedantic,
        torch_version=options.torch_version,
        fixable=options.fixable,
        unfixable=options.unfixable if options.migrate else (*(options.unfixable or settings.unfixable), MIGRATION),
        force_exclude=options.force_exclude,
        fail_on=options.fail_on,
    )


def _start(options: Options) -> Path:
    """Where the search for the settings starts: here, unless all that is linted lies elsewhere."""
    cwd = Path.cwd().resolve()
    name = options.stdin_filename
    paths = [Path(name)] if name else [path for path in options.paths if path != STDIN]
    absolute = [(cwd / path).resolve() for path in paths]
    if not absolute or any(path.is_relative_to(cwd) for path in absolute):
        return cwd
    return absolute[0] if absolute[0].is_dir() else absolute[0].parent
