"""Why a file has no script."""

from __future__ import annotations

from ddplint.errors import SourceError


class ParseFailure(SourceError):
    """A file that is not valid Python; ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column
