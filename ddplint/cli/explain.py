"""``ddplint explain``: why a rule speaks, and what to do; and which rules a symptom leads to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ddplint.cli.check import COLORS
from ddplint.cli.values import one_of

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule


@click.command(
    "explain", context_settings={"help_option_names": ["-h", "--help"]}, short_help="Show what a rule is about."
)
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@click.option("--symptom", metavar="TEXT", help="Name the rules for what you see, or for an error text.")
@click.option(
    "--color", **one_of(*COLORS), default="auto", show_default=True, help="Colour the text; auto: on a terminal."
)
def command(rules: tuple[str, ...], symptom: str | None, color: str) -> int:
    """Show the documentation of rules, each named by its code or its name, or find the rules for a symptom.

    The exit code is 1 when no rule speaks of the symptom.

    \b
    Examples:
      ddplint explain DDP202
      ddplint explain missing-set-epoch
      ddplint explain --symptom "my training hangs"
      ddplint explain --symptom "Expected to have finished reduction in the prior iteration"
    """
    if (symptom is None) == (not rules):
        raise click.UsageError("name rules, or give a --symptom")
    from ddplint.cli.catalogue import find_rule, installed_rules
    from ddplint.cli.output import use_color
    from ddplint.reporting.explain import render_explanation

    installed = installed_rules()
    if symptom is not None:
        return _find(symptom, installed, color)
    found = [find_rule(rule, installed) for rule in rules]
    colored = use_color(color, sys.stdout)
    sys.stdout.write("\n".join(render_explanation(rule, color=colored) for rule in found))
    return 0


def _find(symptom: str, installed: Sequence[RegisteredRule], color: str) -> int:
    """Name the rules that a symptom leads to."""
    from ddplint.cli.output import use_color
    from ddplint.reporting.symptoms import render_matches
    from ddplint.rulekit.symptoms import matching

    matches = matching(installed, symptom)
    if not matches:
        print("No rule speaks of this. ddplint check looks for all of them; ddplint doctor looks at the machine.")
        return 1
    sys.stdout.write(render_matches(matches, color=use_color(color, sys.stdout)))
    return 0
