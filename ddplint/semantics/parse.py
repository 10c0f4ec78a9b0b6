"""Text becomes a script: parsed by LibCST, walked once."""

from __future__ import annotations

from contextlib import suppress

import libcst as cst

from ddplint.semantics.build_statements import StatementBuilder
from ddplint.semantics.failure import ParseFailure
from ddplint.semantics.repair import repairs
from ddplint.semantics.script import Script
from ddplint.source import SourceFile


def parse(source: SourceFile) -> Script:
    """Return the script of a file. Raises ParseFailure when it is not valid Python and can't be repaired for sure."""
    try:
        script = Script(source, cst.parse_module(source.text))
    except cst.ParserSyntaxError as error:
        script = _repaired(source, ParseFailure(error.message, error.raw_line, error.raw_column + 1))
    module = script.module
    builder = StatementBuilder(script, module)
    script.scope = builder.scope
    builder.module(module)
    return script


def _repaired(source: SourceFile, failure: ParseFailure) -> Script:
    for repair in repairs(source.text, failure):
        with suppress(cst.ParserSyntaxError):
            return Script(source, cst.parse_module(repair.text), repair)
    raise failure from None
