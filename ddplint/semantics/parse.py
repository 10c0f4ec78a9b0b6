"""Text becomes a script: parsed by LibCST, walked once."""

from __future__ import annotations

import libcst as cst

from ddplint.semantics.build_statements import StatementBuilder
from ddplint.semantics.failure import ParseFailure
from ddplint.semantics.script import Script
from ddplint.source import SourceFile


def parse(source: SourceFile) -> Script:
    """Return the script of a file. Raises ParseFailure when it is not valid Python."""
    try:
        module = cst.parse_module(source.text)
    except cst.ParserSyntaxError as error:
        raise ParseFailure(error.message, error.raw_line, error.raw_column + 1) from None
    script = Script(source, module)
    builder = StatementBuilder(script, module)
    script.scope = builder.scope
    builder.module(module)
    return script
