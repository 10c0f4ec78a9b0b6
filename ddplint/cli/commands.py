"""The group of all commands; ``ddplint PATH`` means ``ddplint check PATH``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from ddplint import __version__
from ddplint.errors import nearest

DEFAULT = "check"
# Each command is the module of its name; only the one that runs is imported.
NAMES = (DEFAULT, "explain", "rules", "migrate", "doctor", "clean")


class _Commands(click.Group):
    """A group with a default command, whose options are part of the group's help."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(NAMES)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in NAMES:
            return None
        command: click.Command = import_module(f"ddplint.cli.{name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {*NAMES, *(option for parameter in self.get_params(ctx) for option in parameter.opts)}
        if not args or args[0] not in own:
            _refuse_misspelled_command(args)
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        default = self.get_command(ctx, DEFAULT)
        assert default is not None
        parameters = [*default.params, *self.get_params(ctx)]
        records = [parameter.get_help_record(ctx) for parameter in parameters if isinstance(parameter, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        self.format_commands(ctx, formatter)


def _refuse_misspelled_command(args: list[str]) -> None:
    """A word that is no path, but nearly a command, was meant as a command."""
    if args and args[0].isalpha() and not Path(args[0]).exists():
        hint = nearest(args[0], NAMES)
        if hint:
            raise click.UsageError(f"no such command or path {args[0]!r}{hint}")


@click.group(
    cls=_Commands,
    options_metavar="[OPTIONS]",
    subcommand_metavar="[PATH]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def commands() -> None:
    """Find, explain and fix what goes wrong in PyTorch multi-GPU training scripts.

    Without a PATH, the Python files of the current folder are linted.

    \b
    Examples:
      ddplint train.py src/            lint a script and a folder
      ddplint --fix train.py           apply the safe fixes
      ddplint --diff src/              show the fixes as a patch, write nothing
      ddplint --select hang,crash      only what stops a run
      ddplint explain DDP202           why a rule speaks, and what to do
    """
