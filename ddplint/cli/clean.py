"""``ddplint clean``: the cache is removed."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("clean", context_settings={"help_option_names": ["-h", "--help"]}, short_help="Remove the cache.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The settings file of the project.")
def command(config: Path | None) -> int:
    """Remove the cache of the current folder's project: what earlier runs found in files that have not changed.

    It lies in .ddplint_cache, in the folder of the settings file or, without one, in the current folder.
    """
    from ddplint.config import load_settings
    from ddplint.engine.cache import clean

    removed = clean(load_settings(Path.cwd(), config).root)
    click.echo("nothing to remove" if removed is None else f"removed {removed}")
    return 0
