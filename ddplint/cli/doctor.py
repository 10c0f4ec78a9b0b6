"""``ddplint doctor``: whether a machine is fit for training with several processes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ddplint.cli.check import COLORS
from ddplint.cli.values import one_of


@click.command(
    "doctor",
    context_settings={"help_option_names": ["-h", "--help"]},
    short_help="Check the machine: driver, GPUs, links, ports, limits.",
)
@click.argument("script", required=False, type=click.Path(path_type=Path))
@click.option(
    "--nproc", type=click.IntRange(1), metavar="N", help="Processes on this machine. [default: one for each GPU]"
)
@click.option("--nodes", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="Machines of the run.")
@click.option("--python", metavar="FILE", help="The interpreter with torch. [default: the one that runs ddplint]")
@click.option("--nccl-test", is_flag=True, help="Time an all-reduce over all GPUs, or over gloo processes.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="End what reads the facts, or the all-reduce, after so long.",
)
@click.option(
    "--format",
    "output_format",
    **one_of("text", "json", "sarif"),
    default="text",
    show_default=True,
    help="How to write it.",
)
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
def command(
    script: Path | None,
    nproc: int | None,
    nodes: int,
    python: str | None,
    nccl_test: bool,
    time_limit: float,
    output_format: str,
    color: str,
) -> int:
    """Check this machine, and against what SCRIPT asks for when one is given; it is read, never run.

    The exit code is 1 when something would stop the training, or make it wrong.

    \b
    Examples:
      ddplint doctor                        this machine
      ddplint doctor train.py --nproc 4     for this script with four processes
      ddplint doctor --nccl-test            with a timed all-reduce
    """
    from ddplint.cli.output import use_color
    from ddplint.doctor import Asked, Needs, examine, needs_of
    from ddplint.doctor.gather import gather_for
    from ddplint.reporting.doctor import render_examination, render_examination_json, render_examination_sarif

    needs = Needs() if script is None else needs_of(script, str(script))
    asked = Asked(nproc, nodes, needs)
    facts = gather_for(asked, python or sys.executable, time_limit, nccl_test=nccl_test)
    found = examine(facts, asked)
    if output_format == "json":
        sys.stdout.write(render_examination_json(found, facts))
    elif output_format == "sarif":
        sys.stdout.write(render_examination_sarif(found, asked))
    else:
        sys.stdout.write(render_examination(found, facts, color=use_color(color, sys.stdout)))
    return int(found.has_failed)
