"""``ddplint check``: the options of linting and fixing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ddplint.cli.values import comma_list, impact_list, one_of, torch_version

FORMATS = ("text", "json", "github", "sarif")
COLORS = ("auto", "always", "never")


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for; None and the empty tuple are options that were not given."""

    paths: tuple[Path, ...]
    select: tuple[str, ...] | None
    ignore: tuple[str, ...] | None
    extend_select: tuple[str, ...] | None
    pedantic: bool | None
    torch_version: tuple[int, int] | None
    fix: bool
    unsafe_fixes: bool
    diff: bool
    fix_only: bool
    fixable: tuple[str, ...] | None
    unfixable: tuple[str, ...] | None
    migrate: bool
    output_format: str
    output: Path | None
    statistics: bool
    exit_zero: bool
    fail_on: tuple[str, ...] | None
    baseline: Path | None
    use_baseline: bool
    update_baseline: bool
    add_ignore: bool
    color: str
    config: Path | None
    force_exclude: bool | None
    stdin_filename: str | None
    jobs: int | None
    cache: bool

    @property
    def fixes(self) -> bool:
        """Whether fixes are made, or shown as a patch."""
        return self.fix or self.fix_only or self.diff

    @property
    def most_jobs(self) -> int:
        """How many processes may lint: as many as there are cores for us, unless the user says so."""
        if self.jobs is not None:
            return self.jobs
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@click.command(
    "check",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    short_help="Find and fix mistakes; the default command.",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--select", **comma_list(), help="Run only these rules: codes, code prefixes, names or impacts.")
@click.option("--ignore", **comma_list(), help="Leave these rules out.")
@click.option("--extend-select", **comma_list(), help="Run these rules too.")
@click.option("--pedantic", is_flag=True, default=None, help="Also show findings that are merely possible.")
@click.option("--torch-version", **torch_version(), help="The torch that the code is for.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix, --fix-only or --diff: the unsafe fixes too.")
@click.option("--diff", is_flag=True, help="Print the fixes as a patch and write nothing.")
@click.option("--fix-only", is_flag=True, help="Apply the fixes and say nothing of what remains.")
@click.option("--fixable", **comma_list(), help="Fix only these rules.")
@click.option("--unfixable", **comma_list(), help="Do not fix these rules.")
@click.option(
    "--no-migrate", "migrate", flag_value=False, default=True, help="Do not move DataParallel scripts (DDP101)."
)
@click.option(
    "--format",
    "output_format",
    **one_of(*FORMATS),
    default="text",
    show_default=True,
    help="How findings are written.",
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the findings to a file."
)
@click.option("--statistics", is_flag=True, help="Count the findings by rule instead of showing them.")
@click.option("--fail-on", **impact_list(), help="Exit with 1 only for findings of these impacts.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Leave out the findings that this file knows.",
)
@click.option(
    "--no-baseline", "use_baseline", flag_value=False, default=True, help="Show what the baseline knows, too."
)
@click.option("--update-baseline", is_flag=True, help="Put all findings off: write them into the baseline.")
@click.option("--add-ignore", is_flag=True, help="Write a suppression comment for each finding that is shown.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 also when there are findings.")
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Read the settings from this file.")
@click.option("--force-exclude", is_flag=True, default=None, help="Apply the excludes also to the given files.")
@click.option("--stdin-filename", metavar="NAME", help="What to call the file that is read from - (standard input).")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Lint in at most N processes (default: one per core)."
)
@click.option("--no-cache", "cache", flag_value=False, default=True, help="Lint also what has not changed.")
def command(**values: Any) -> int:
    """Find, explain and fix what goes wrong in PyTorch multi-GPU training scripts.

    A PATH is a file, a folder or - for standard input; without one, the current folder is linted.

    \b
    Examples:
      ddplint check train.py src/
      ddplint check --fix --unsafe-fixes train.py
      ddplint check - --stdin-filename train.py < train.py
    """
    from ddplint.cli.linting import check  # the rest of the program, which --help does not need

    return check(Options(**values))
