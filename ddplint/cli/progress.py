"""A progress bar for runs that take longer than people like to wait without one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TypeVar

import click

PATIENCE = 1.0  # seconds

T = TypeVar("T")


def with_progress(items: Iterable[T], total: int) -> Iterator[T]:
    """Yield the items; when they take longer than a second, draw a bar on the standard error stream."""
    due = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        bar = None
        for done, item in enumerate(items, 1):
            if bar is not None:
                bar.update(1)
            elif time.monotonic() >= due:
                bar = stack.enter_context(click.progressbar(length=total, label="linting", file=sys.stderr))
                bar.update(done)
            yield item
