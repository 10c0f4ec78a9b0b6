"""How the values of options are read; a wrong one is refused with the nearest right one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ddplint.errors import nearest


def one_of(*words: str) -> dict[str, Any]:
    """Return what makes a click option take one of a few words."""

    def read(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
        if value not in words:
            raise click.BadParameter(f"{value!r} is none of {', '.join(words)}{nearest(value, words)}")
        return value

    return {"callback": read, "metavar": "|".join(words)}


def comma_list() -> dict[str, Any]:
    """Return what makes a click option take words with commas between them, and be given several times."""

    def read(_ctx: click.Context, _param: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
        return tuple(word for value in values for part in value.split(",") if (word := part.strip())) or None

    return {"callback": read, "metavar": "RULES", "multiple": True}


def impact_list() -> dict[str, Any]:
    """Return what makes a click option take impacts with commas between them, and be given several times."""

    def read(_ctx: click.Context, _param: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
        from ddplint.config import impacts  # only this option needs it

        try:
            return impacts([word for value in values for part in value.split(",") if (word := part.strip())]) or None
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return {"callback": read, "metavar": "IMPACTS", "multiple": True}


def torch_version() -> dict[str, Any]:
    """Return what makes a click option take the version of a torch release."""

    def read(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, int] | None:
        from ddplint.config import parse_version  # only this option needs it

        try:
            return None if value is None else parse_version(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return {"callback": read, "metavar": "VERSION"}
