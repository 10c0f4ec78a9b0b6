"""``ddplint migrate``: what a move from DataParallel to DistributedDataParallel would change."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ddplint.cli.check import COLORS
from ddplint.cli.values import one_of


@click.command(
    "migrate",
    context_settings={"help_option_names": ["-h", "--help"]},
    short_help="Show what a move to DistributedDataParallel changes.",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--plan", is_flag=True, required=True, help="Show the plan and write nothing.")
@click.option(
    "--format",
    "output_format",
    **one_of("text", "json"),
    default="text",
    show_default=True,
    help="How to write it.",
)
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Read the settings from this file.")
def command(paths: tuple[Path, ...], plan: bool, output_format: str, color: str, config: Path | None) -> int:
    """Show, for each DataParallel that trains, what moving it to DistributedDataParallel changes, or why it can't be.

    Nothing is written: ``ddplint --fix`` makes the moves that are safe, with ``--unsafe-fixes`` also those with points
    to look at. The exit code is 1 when a move is refused, or a file could not be read.

    \b
    Examples:
      ddplint migrate --plan train.py
      ddplint migrate --plan --format json src/
    """
    assert plan
    from ddplint.cli.output import use_color
    from ddplint.config import load_settings
    from ddplint.engine.plans import PlannedMove, plans
    from ddplint.reporting.plans import render_plans, render_plans_json
    from ddplint.source import discover

    cwd = Path.cwd()
    settings = load_settings(cwd, config)
    planned = list(plans(discover(paths or (Path(),), settings, cwd).files, settings, cwd))
    if output_format == "json":
        sys.stdout.write(render_plans_json(planned))
    else:
        sys.stdout.write(render_plans(planned, color=use_color(color, sys.stdout)))
    return int(any(not isinstance(one, PlannedMove) or one.plan.refusal is not None for one in planned))
