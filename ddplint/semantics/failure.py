"""Why a file has no script."""

from __future__ import annotations

from ddplint.errors import SourceError


class ParseFailure(SourceError):
    """A file that is not valid Python; ``line`` and ``column`` count from 1.

    ``refused``: the file was understood all the same, and this is its text without what other rules speak of.
    """

    def __init__(self, message: str, line: int, column: int, *, refused: str | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.refused = message, line, column, refused
