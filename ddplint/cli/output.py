"""Where the report goes, and in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ddplint.engine.outcomes import Report
from ddplint.errors import PathError
from ddplint.reporting import Format, render, render_statistics
from ddplint.rulekit.pack import RegisteredRule


@dataclass(frozen=True, slots=True)
class Output:
    """The form of the report: a format, or only ``statistics``; to a ``file`` or to the stream of the command."""

    format: Format
    statistics: bool
    file: Path | None
    color: str
    rules: Sequence[RegisteredRule]

    def show(self, report: Report, stream: TextIO) -> None:
        """Write the report; raises PathError when its file cannot be written."""
        if self.file is None:
            stream.write(self._text(report, use_color(self.color, stream)))
            stream.flush()
            return
        text = self._text(report, self.color == "always")
        try:
            self.file.write_bytes(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise PathError(f"cannot write {self.file}: {error.strerror or error}") from None

    def _text(self, report: Report, color: bool) -> str:
        if self.statistics:
            return render_statistics(report, color=color)
        return render(report, self.format, rules=self.rules, color=color)


def use_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour what goes to a stream: ``choice`` is the value of ``--color``."""
    if choice != "auto":
        return choice == "always"
    dumb = os.environ.get("TERM") == "dumb" or (sys.platform == "win32" and "WT_SESSION" not in os.environ)
    return stream.isatty() and not os.environ.get("NO_COLOR") and not dumb
