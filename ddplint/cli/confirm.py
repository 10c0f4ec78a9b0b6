"""``ddplint confirm``: run a script for a few steps, and let the run say which findings are true."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ddplint.cli.check import COLORS
from ddplint.cli.values import comma_list, one_of
from ddplint.errors import EnvironmentLacks


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for; None and the empty tuple are options that were not given."""

    script: Path
    arguments: tuple[str, ...]
    nproc: int
    steps: int
    epochs: int
    time_limit: float
    stall: float
    start_stall: float
    launcher: str
    python: str | None
    write: bool
    keep_run: Path | None
    select: tuple[str, ...] | None
    ignore: tuple[str, ...] | None
    pedantic: bool | None
    output_format: str
    color: str
    config: Path | None


@click.command(
    "confirm",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    short_help="Run a script and let the run judge the findings.",
)
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]...")
@click.option("--nproc", type=click.IntRange(min=1), default=2, show_default=True, metavar="N", help="Ranks to start.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=4, show_default=True, metavar="K", help="Batches of each pass."
)
@click.option(
    "--epochs", type=click.IntRange(min=1), default=2, show_default=True, metavar="E", help="Passes that train."
)
@click.option(
    "--time-limit", type=float, default=300, show_default=True, metavar="S", help="Seconds for the whole run."
)
@click.option(
    "--stall", type=float, default=20, show_default=True, metavar="S", help="Seconds without movement: a hang."
)
@click.option(
    "--start-stall", type=float, default=60, show_default=True, metavar="S", help="The same before the first step."
)
@click.option(
    "--launcher",
    **one_of("torchrun", "direct"),
    default="torchrun",
    show_default=True,
    help="Who starts the ranks; direct: we do, with torchrun's environment.",
)
@click.option("--python", metavar="FILE", help="The interpreter of the script (default: this one).")
@click.option("--write", is_flag=True, help="Let the script write its files and report to its trackers.")
@click.option(
    "--keep-run", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Keep the records of the run."
)
@click.option("--select", **comma_list(), help="Judge only these rules: codes, code prefixes, names or impacts.")
@click.option("--ignore", **comma_list(), help="Leave these rules out.")
@click.option("--pedantic", is_flag=True, default=None, help="Also judge findings that are merely possible.")
@click.option(
    "--format",
    "output_format",
    **one_of("text", "json", "sarif"),
    default="text",
    show_default=True,
    help="How findings are written.",
)
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Read the settings from this file.")
def command(**values: Any) -> int:
    """Lint SCRIPT, run it for a few steps on several ranks, and say of each finding whether the run shows it.

    The script runs as it is, in its own environment, with its ARGUMENTS. Its files go to a folder of the run instead
    of where it writes them, unless --write is given. Every process is ended, whatever happens.

    The exit code is 1 when a finding is confirmed, 4 when the script fails by itself, 5 when it can't be run here.

    \b
    Examples:
      ddplint confirm train.py
      ddplint confirm train.py --steps 8 -- --epochs 2 --data data/
    """
    if sys.platform == "win32":
        raise EnvironmentLacks("a traced run needs Linux or macOS")
    from ddplint.cli.confirming import confirm  # the rest of the program, which --help does not need

    return confirm(Options(**values))
