"""From the arguments of the process to its exit code, whatever happens in between."""

from __future__ import annotations

import os
import sys
import traceback

import click

from ddplint.cli.commands import commands
from ddplint.cli.usage import one_line
from ddplint.errors import DdplintError

INTERRUPTED = 130  # what shells report for a process that Ctrl-C ended


def main() -> int:
    """Run the command that the process was started with and return its exit code."""
    _never_fail_to_print()
    try:
        code: int | None = commands.main(prog_name="ddplint", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _refused(one_line(error), error.exit_code)
    except DdplintError as error:
        return _refused(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _refused("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough. What is still buffered must not fail at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception:  # noqa: BLE001 - the last frame of the program: say that it is our defect, and how it came
        traceback.print_exc()
        return _refused("this is a defect of ddplint; please report it with the lines above", DdplintError.exit_code)
    return code or 0


def _refused(reason: str, code: int) -> int:
    print(f"ddplint: {reason}", file=sys.stderr)
    return code


def _never_fail_to_print() -> None:
    """A terminal that cannot show a character gets its escape sequence instead."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
