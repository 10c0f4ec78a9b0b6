"""A mistake in the use of the command line, said in one line with the nearest right thing."""

from __future__ import annotations

import click

from ddplint.errors import nearest


def one_line(error: click.ClickException) -> str:
    """Return what click has to say, on one line."""
    if isinstance(error, click.NoSuchOption):
        return f"no such option {error.option_name!r}{nearest(error.option_name, _options(error.ctx))}"
    message = " ".join(error.format_message().split()).removesuffix(".")
    return message[:1].lower() + message[1:]


def _options(context: click.Context | None) -> list[str]:
    """The options of a command and of the commands around it."""
    options = []
    while context is not None:
        for parameter in context.command.get_params(context):
            options += [*parameter.opts, *parameter.secondary_opts]
        context = context.parent
    return options
