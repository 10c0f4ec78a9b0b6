"""Every error that ddplint raises on purpose, as one tree.

    DdplintError                 (exit code)
    ├── UsageError                    2   the user's mistake: a path, an option, a setting, a pack
    │   ├── PathError                 2   a path that does not exist or cannot be read
    │   ├── OptionError               2   an option that has no such value
    │   ├── SettingError              2   a configuration file that does not say what it should
    │   └── PackError                 2   a rule pack that does not load: refused, never skipped
    ├── EnvironmentLacks              5   a traced run needs what is not there, such as torch
    ├── SourceError                   -   a file that cannot be linted; becomes an outcome, ends no run
    └── Defect                        3   our mistake: a rule or a fix that broke its promise

An error's text is one line that names what is wrong and, where there is one, the nearest right thing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DdplintError(Exception):
    """Base of everything that ddplint raises on purpose."""

    exit_code = 3


class UsageError(DdplintError):
    """The user asked for something that cannot be done as asked."""

    exit_code = 2


class PathError(UsageError):
    """A path that does not exist or cannot be read."""


class OptionError(UsageError):
    """A command-line option whose value names nothing."""


class SettingError(UsageError):
    """A configuration file with an unknown key or a value of the wrong kind."""


class PackError(UsageError):
    """A rule pack that does not load or breaks the rules for rules."""


class EnvironmentLacks(DdplintError):
    """The environment lacks what a traced run needs."""

    exit_code = 5


class SourceError(DdplintError):
    """A file that cannot be linted, with the reason; the engine turns it into an outcome."""


class Defect(DdplintError):
    """Something in ddplint or in a rule broke its promise."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the closest known word, or an empty string when nothing is close."""
    match = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {match[0]!r}?)" if match else ""
