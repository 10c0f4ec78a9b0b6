"""``ddplint explain``: why a rule speaks, and what to do."""

from __future__ import annotations

import sys

import click

from ddplint.cli.check import COLORS
from ddplint.cli.values import one_of


@click.command(
    "explain", context_settings={"help_option_names": ["-h", "--help"]}, short_help="Show what a rule is about."
)
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
def command(rules: tuple[str, ...], color: str) -> int:
    """Show the documentation of rules, each named by its code or its name.

    \b
    Examples:
      ddplint explain DDP202
      ddplint explain missing-set-epoch
    """
    from ddplint.cli.catalogue import find_rule, installed_rules
    from ddplint.cli.output import use_color
    from ddplint.reporting.explain import render_explanation

    installed = installed_rules()
    found = [find_rule(rule, installed) for rule in rules]
    colored = use_color(color, sys.stdout)
    sys.stdout.write("\n".join(render_explanation(rule, color=colored) for rule in found))
    return 0
