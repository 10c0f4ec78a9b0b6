"""``ddplint rules``: the list of rules."""

from __future__ import annotations

import sys

import click

from ddplint.cli.check import COLORS
from ddplint.cli.values import one_of


@click.command("rules", context_settings={"help_option_names": ["-h", "--help"]}, short_help="List the rules.")
@click.option(
    "--format",
    "output_format",
    **one_of("text", "json"),
    default="text",
    show_default=True,
    help="How to write them.",
)
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
def command(output_format: str, color: str) -> int:
    """List all rules: code, name, impact, fix and what they find."""
    from ddplint.cli.catalogue import installed_rules
    from ddplint.cli.output import use_color
    from ddplint.reporting.rules_table import render_rules, render_rules_json

    rules = installed_rules()
    if output_format == "json":
        sys.stdout.write(render_rules_json(rules))
    else:
        sys.stdout.write(render_rules(rules, color=use_color(color, sys.stdout)))
    return 0
